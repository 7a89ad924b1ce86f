"""What tells a page's main content from the rest: a row of numbers for every text of its simplified tree.

All of them are counts, shares and flags of a text, of the elements around it and of the texts before and after it. None
depends on the words of a text but `section_title`, so that they hold in languages nobody looked at. Only whole numbers
are added up, and each quotient is of two such numbers: the features are the same on every machine.

`_main_features.c` does the same, compiled, with the constants of this file.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.stages.extract import tree as t
from obelics_pipeline.stages.extract.marks import BITS
from obelics_pipeline.stages.extract.section_titles import LONGEST, is_section_title
from obelics_pipeline.stages.extract.tags import CUSTOM, TEXT, tag_id
from obelics_pipeline.stages.extract.tree import SimplifiedTree

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]

LONG = 80  # weighted characters from which a text is a paragraph rather than a line
SHORT = 25  # and below which it says nothing about where the content is (the limit of Arc90's readability)
FULL = 300  # characters from which a longer text says no more (readability: a point for each 100, at most three)
UPWARD = (60, 30, 20, 15)  # shares of a text's score for the elements around it (readability: 1, 1/2, 1/3, …)
MOST = (7, 10)  # of a page's text: the names of an element that holds more say nothing of any one text
LEVELS = 5  # elements around a text that are looked at
NEIGHBOURS = (-2, -1, 1, 2)
FAR = 99  # texts; what is further away is as far
ELLIPSES = ("…", "...")  # what a text ends with that goes on elsewhere

_TAGS = (
    "p div li h1 h2 h3 h4 h5 h6 td th pre blockquote figcaption dd dt section article body header form figure "
    "ul ol main details table address summary caption"
).split()
_AROUND = "article main table li figure blockquote section p ol".split()
_FRAME = "aside footer".split()
_INNER = "p li pre blockquote dd td h1 h2 h3 h4 h5 h6".split()  # their score counts for the element around them


def _by_tag(values: dict[str, int]) -> Ints:
    table = np.zeros(CUSTOM + 1, np.int64)
    for name, value in values.items():
        table[tag_id(name)] = value
    return table


CODE = _by_tag({name: number + 1 for number, name in enumerate(_TAGS)})
AROUND_BIT = _by_tag({name: 1 << (32 + number) for number, name in enumerate(_AROUND)})
IS_FRAME = _by_tag(dict.fromkeys(_FRAME, 1)) > 0
IS_INNER = _by_tag(dict.fromkeys(_INNER, 1)) > 0
IS_WHOLE = _by_tag(dict.fromkeys(("html", "body"), 1)) > 0
IMG = tag_id("img")
# Names of reviews are told of by a rule (comments.py): as a feature they made nothing better on domains left out.
_MARKS = [name for name in BITS if name != "review"]
MARK_BITS = np.array([BITS[name] for name in _MARKS], np.int64)
_ALL_MARKS = int(MARK_BITS.sum())
AROUND_BITS = np.array([1 << (32 + number) for number in range(len(_AROUND))], np.int64)

NAMES = (
    *"characters link commas stops words word_length sentence capitals".split(),
    *"ellipsis section_title since_section_title tag_around".split(),
    *(f"around_{name}" for name in _MARKS),
    *(f"in_{name}" for name in _AROUND),
    *(
        f"{what}_{level}"
        for what in "share links long_share mean images score alike".split()
        for level in range(LEVELS)
    ),
    *(f"peers_{what}" for what in "count mean share links spread first last".split()),
    *"best_level best_score before long_before from_end".split(),
    *(f"link_{place:+d}" for place in NEIGHBOURS),
    *"page_long page_links page_texts best_characters best_long_share".split(),
)


@dataclass(slots=True)
class _Page:
    """A page's rows. Sums are over the rows before a row (`before`, `before_long`) or over its subtree."""

    tags: Ints
    parents: Ints  # the root is its own
    ends: Ints
    marks: Ints
    texts: Ints  # rows of the texts outside the frame
    counts: Ints  # of these, a row for each column of the tree
    weights: Ints  # of these: characters, those of scripts without spaces counted threefold
    linked: Ints  # of these, the weight in links
    n_long: int
    before: Ints
    before_long: Ints
    characters: Ints
    links: Ints
    long_characters: Ints
    count: Ints
    images: Ints


def main_features(tree: SimplifiedTree) -> tuple[Ints, Floats]:
    """The rows of the texts outside the page's frame (aside, footer), and their features in the order of `NAMES`.

    Shapes (texts,) and (texts, len(NAMES)).
    """
    page = _page(tree)
    if not len(page.texts):
        return page.texts, np.zeros((0, len(NAMES)), np.float32)
    scores = _scores(page)
    columns = [
        *_of_the_text(page),
        *_of_its_words(tree, page),
        *_of_its_names(page),
        *_of_its_containers(page, scores),
        *_of_its_peers(page),
        *_of_the_best_container(page, scores),
        *_of_its_place(page),
        *_of_its_neighbours(page),
        *_of_the_page(page, scores),
    ]
    features = np.empty((len(page.texts), len(NAMES)), np.float32)
    at = 0
    for column in columns:
        width = 1 if column.ndim == 1 else column.shape[1]
        features[:, at : at + width] = column.reshape(-1, width)
        at += width
    assert at == len(NAMES)
    return page.texts, features


def _page(tree: SimplifiedTree) -> _Page:
    columns = tree.rows.T.astype(np.int64)
    tags, ends, marks = columns[t.TAG], columns[t.END], columns[t.MARKS] & _ALL_MARKS
    index = np.arange(len(tags))
    is_text = tags == TEXT
    texts = np.flatnonzero(is_text & ~tree.inside_tags(IS_FRAME))
    counts = columns[:, texts]
    weights = counts[t.CHARS] + 2 * counts[t.WIDE]
    linked = weights * counts[t.LINKED] // np.maximum(1, counts[t.CHARS])
    long = (weights >= LONG) & (2 * linked < weights)
    values = np.zeros((5, len(tags) + 1), np.int64)
    values[:4, texts + 1] = weights, linked, weights * long, np.ones(len(texts), np.int64)
    values[4, 1:] = tags == IMG
    sums = np.cumsum(values, axis=1)
    within = sums[:, ends] - sums[:, index]
    most, of = MOST
    says_nothing = (of * within[0] >= most * sums[0, -1]) & ~is_text
    return _Page(
        tags=tags,
        parents=np.where(columns[t.PARENT] < 0, index, columns[t.PARENT]),
        ends=ends,
        marks=np.where(says_nothing | IS_WHOLE[tags], 0, marks),
        texts=texts,
        counts=counts,
        weights=weights,
        linked=linked,
        n_long=int(long.sum()),
        before=sums[0],
        before_long=sums[2],
        characters=within[0],
        links=within[1],
        long_characters=within[2],
        count=within[3],
        images=within[4],
    )


def _scores(page: _Page) -> Ints:
    """How much each element looks like the one around the content, as readability scores candidates."""
    worth = 100 + 100 * page.counts[t.COMMAS] + np.minimum(page.weights, FULL)
    worth = np.where(page.weights >= SHORT, worth * (page.weights - page.linked) // np.maximum(1, page.weights), 0)
    scores = np.zeros(len(page.tags))  # whole numbers below 2^53: exact
    element = page.parents[page.texts]
    element = np.where(IS_INNER[page.tags[element]], page.parents[element], element)
    for share in UPWARD:
        scores += np.bincount(element, share * worth, len(scores))
        above = page.parents[element]
        worth = np.where(above == element, 0, worth)
        element = above
    own = (page.characters - page.links) / np.maximum(1, page.characters)
    discounted: Ints = (scores * own).astype(np.int64)
    return discounted


Columns = list[NDArray[np.generic]]


def _of_the_text(page: _Page) -> Columns:
    counts = page.counts
    characters, words = np.maximum(1, counts[t.CHARS]), counts[t.WORDS]
    return [
        page.weights,
        page.linked / np.maximum(1, page.weights),
        counts[t.COMMAS] / characters,
        counts[t.STOPS] / characters,
        words,
        characters / np.maximum(1, words),
        counts[t.ENDS],
        counts[t.UPPERS] / characters,
    ]


def _of_its_words(tree: SimplifiedTree, page: _Page) -> Columns:
    """Features of a text's words: how it ends, whether it is a section title, and the distance to the last title."""
    words = [str(tree.values[row]) for row in page.texts.tolist()]
    titles = np.zeros(len(words), np.bool_)
    for number in np.flatnonzero(page.counts[t.CHARS] <= LONGEST).tolist():
        titles[number] = is_section_title(words[number])
    place = np.arange(len(words))
    last = np.maximum.accumulate(np.where(titles, place, -FAR))
    return [
        np.array([text.endswith(ELLIPSES) for text in words]),
        titles,
        np.minimum(FAR, place - last),
    ]


def _of_its_names(page: _Page) -> Columns:
    """The tag of the element around the one that it is in, and tags and names of all elements around it."""
    around = _around(page)[page.texts, None]
    return [
        CODE[page.tags[page.parents[page.parents[page.texts]]]],
        (around & MARK_BITS) != 0,
        (around & AROUND_BITS) != 0,
    ]


def _around(page: _Page) -> Ints:
    """The bits of the names and of the tags of all elements around a row, its own included."""
    bits, above = page.marks | AROUND_BIT[page.tags], page.parents
    while True:  # each round looks twice as far up as the one before
        bits = bits | bits[above]
        further = above[above]
        if np.array_equal(further, above):
            return bits
        above = further


def _levels(page: _Page) -> Ints:
    """The elements around each text, the innermost first; shape (texts, LEVELS). The root is around itself."""
    levels = [page.parents[page.texts]]
    while len(levels) < LEVELS:
        levels.append(page.parents[levels[-1]])
    return np.stack(levels, 1)


def _of_its_containers(page: _Page, scores: Ints) -> Columns:
    element = _levels(page)
    characters, texts = page.characters[element], np.maximum(1, page.count[element])
    return [
        characters / max(1, page.before[-1]),
        page.links[element] / np.maximum(1, characters),
        page.long_characters[element] / max(1, page.before_long[-1]),
        characters / texts,
        page.images[element] / texts,
        scores[element] / max(1, scores.max()),
        _alike(page)[element],
    ]


def _alike(page: _Page) -> Ints:
    """For every element how many children of its parent have its tag and its names, itself included."""
    keys = (page.parents << 40) | (page.tags << 22) | page.marks
    _, group, size = np.unique(keys, return_inverse=True, return_counts=True)
    alike: Ints = size[group].astype(np.int64)
    return alike


def _of_its_peers(page: _Page) -> Columns:
    """Of the texts that stand as this one does: the two elements around them have the same tags and names.

    The teasers of a list, the posts of a thread, the rows of a table are each other's peers, wherever they are.
    """
    _, name = np.unique((page.tags << 22) | page.marks, return_inverse=True)
    within = page.parents[page.texts]
    _, first, group = np.unique(
        name[within] * len(name) + name[page.parents[within]], return_index=True, return_inverse=True
    )
    texts, place = len(group), np.arange(len(group))
    last = np.zeros(len(first), np.int64)
    last[group] = place  # the last assignment counts
    size, weight, linked = (np.bincount(group, part) for part in (None, page.weights, page.linked))
    return [
        size[group],
        (weight / size)[group],
        weight[group] / max(1, page.before[-1]),
        (linked / np.maximum(1, weight))[group],
        (last - first)[group] / texts,
        first[group] / texts,
        last[group] / texts,
    ]


def _of_the_best_container(page: _Page, scores: Ints) -> Columns:
    """How far around the element with the best score the innermost element is that holds a text too, and its score."""
    best = int(scores.argmax())
    path = [best]
    while page.parents[path[-1]] != path[-1]:
        path.append(int(page.parents[path[-1]]))
    starts = np.array(path[::-1])  # from the root inwards, so that the ends fall
    texts, ends = page.texts, page.ends[starts][::-1]
    begun, ended = np.searchsorted(starts, texts, "right"), np.searchsorted(ends, texts, "right")
    around = np.maximum(1, np.minimum(begun, len(path) - ended))  # of the path, the root counted
    return [len(path) - around, scores[starts[around - 1]] / max(1, scores[best])]


def _of_its_place(page: _Page) -> Columns:
    texts = page.texts
    return [
        page.before[texts] / max(1, page.before[-1]),
        page.before_long[texts] / max(1, page.before_long[-1]),
        len(texts) - np.arange(len(texts)),
    ]


def _of_its_neighbours(page: _Page) -> Columns:
    """The share in links of the texts before and after; 0 beyond the first and last text."""
    margin, n = max(map(abs, NEIGHBOURS)), len(page.texts)
    padded = np.zeros(n + 2 * margin)
    padded[margin : margin + n] = page.linked / np.maximum(1, page.weights)
    return [padded[margin + place : margin + place + n] for place in NEIGHBOURS]


def _of_the_page(page: _Page, scores: Ints) -> Columns:
    best = int(scores.argmax())
    values = [
        page.n_long,
        page.linked.sum() / max(1, page.before[-1]),
        len(page.texts),
        page.characters[best],
        page.long_characters[best] / max(1, page.before_long[-1]),
    ]
    return [np.full((len(page.texts), len(values)), values)]
