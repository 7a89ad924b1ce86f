"""What tells a page's main content from the rest: a row of numbers for every text of its simplified tree.

All of them are counts, shares and flags of a text, of the elements around it and of the texts before and after it. None
depends on the words of a text but `section_title`, so that they hold in languages nobody looked at. Only integers are
added up, and each quotient is of two integers: the numbers are the same on every machine.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.extract import tree as t
from obelics_pipeline.extract.marks import BITS
from obelics_pipeline.extract.section_titles import LONGEST, is_section_title
from obelics_pipeline.extract.tags import CUSTOM, TEXT, tag_id
from obelics_pipeline.extract.tree import SimplifiedTree

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]

_LONG = 80  # weighted characters from which a text is a paragraph rather than a line
_SHORT = 25  # and below which it says nothing about where the content is (the limit of Arc90's readability)
_FULL = 300  # characters from which a longer text says no more (readability: a point for each 100, at most three)
_UPWARD = (60, 30, 20, 15)  # shares of a text's score for the elements around it (readability: 1, 1/2, 1/3, …)
_MOST = (7, 10)  # of a page's text: the names of an element that holds more say nothing of any one text
_LEVELS = 5  # elements around a text that are looked at
_NEIGHBOURS = (-2, -1, 1, 2)
_WINDOWS = (3, 6, 12)  # texts before and after
_FAR = 99  # texts; what is further away is as far

_TAGS = (
    "p div li h1 h2 h3 h4 h5 h6 td th pre blockquote figcaption dd dt section article body header form figure "
    "ul ol main details table address summary caption"
).split()
_AROUND = "article main header form table li figure blockquote section details p ol".split()
_FRAME = "aside footer".split()
_INNER = "p li pre blockquote dd td h1 h2 h3 h4 h5 h6".split()  # their score counts for the element around them


def _by_tag(values: dict[str, int]) -> Ints:
    table = np.zeros(CUSTOM + 1, np.int64)
    for name, value in values.items():
        table[tag_id(name)] = value
    return table


_CODE = _by_tag({name: number + 1 for number, name in enumerate(_TAGS)})
_HEADING = _by_tag({f"h{level}": level for level in range(1, 7)})
_AROUND_BIT = _by_tag({name: 1 << (32 + number) for number, name in enumerate(_AROUND)})
_IS_FRAME = _by_tag(dict.fromkeys(_FRAME, 1)) > 0
_IS_INNER = _by_tag(dict.fromkeys(_INNER, 1)) > 0
_IMG, _HTML, _BODY = tag_id("img"), tag_id("html"), tag_id("body")
_MARK_BITS = np.array(list(BITS.values()), np.int64)
_AROUND_BITS = np.array([1 << (32 + number) for number in range(len(_AROUND))], np.int64)

NAMES = (
    *"characters link commas stops words word_length sentence digits capitals wide".split(),
    *"times_on_page ellipsis section_title section_titles_before since_section_title".split(),
    *"tag tag_around heading depth".split(),
    *(f"{where}_{name}" for where in ("own", "around") for name in BITS),
    *(f"in_{name}" for name in _AROUND),
    *(
        f"{what}_{level}"
        for what in "share links long_share mean texts images score alike section_titles".split()
        for level in range(_LEVELS)
    ),
    *"best_level below_best best_score".split(),
    *"before long_before from_end first_long last_long first_long_by_text last_long_by_text from_h1".split(),
    *(f"{what}_{place:+d}" for what in ("characters", "link") for place in _NEIGHBOURS),
    *(f"{what}_within_{size}" for size in _WINDOWS for what in ("characters", "link")),
    *"page_characters page_long page_links page_texts best_characters best_long_share".split(),
)


@dataclass(slots=True)
class _Page:
    """A page's rows, and sums over them: `before_*` over all rows before a row, the others over a row's subtree."""

    tags: Ints
    parents: Ints  # the root is its own
    ends: Ints
    marks: Ints
    is_text: NDArray[np.bool_]
    texts: Ints  # rows of the texts outside the frame
    weights: Ints  # by row: characters of such a text, those of scripts without spaces counted threefold
    linked: Ints
    long: NDArray[np.bool_]
    before: Ints
    before_long: Ints
    characters: Ints
    links: Ints
    long_characters: Ints
    count: Ints
    images: Ints
    n_long: int
    words: list[str]  # of the texts
    titles: NDArray[np.bool_]  # which of the texts are titles of sections with something else
    depth: Ints  # elements around a row
    before_titles: Ints  # such titles before each row, once a long text was seen


def main_features(tree: SimplifiedTree) -> tuple[Ints, Floats]:
    """The rows of the texts outside the page's frame (aside, footer), and their features in the order of `NAMES`.

    Shapes (texts,) and (texts, len(NAMES)).
    """
    page = _page(tree)
    if not len(page.texts):
        return page.texts, np.zeros((0, len(NAMES)), np.float32)
    scores = _scores(page, tree.rows)
    columns = [
        *_of_the_text(page, tree),
        *_of_its_words(page),
        *_of_its_names(page),
        *_of_its_containers(page, scores),
        *_of_the_best_container(page, scores),
        *_of_its_place(page, scores),
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
    rows = tree.rows.astype(np.int64)
    tags, ends, marks = rows[:, t.TAG], rows[:, t.END], rows[:, t.MARKS].copy()
    index = np.arange(len(rows))
    is_text = tags == TEXT
    live = is_text & ~tree.inside(_IS_FRAME[tags])
    characters = rows[:, t.CHARS]
    weights = (characters + 2 * rows[:, t.WIDE]) * live
    linked = weights * rows[:, t.LINKED] // np.maximum(1, characters)
    long = live & (weights >= _LONG) & (2 * linked < weights)
    counted = np.zeros((5, len(rows) + 1), np.int64)
    counted[:, 1:] = weights, linked, weights * long, live, tags == _IMG
    before, _, before_long, *_ = sums = np.cumsum(counted, axis=1)
    within = sums[:, ends] - sums[:, index]
    whole = (tags == _HTML) | (tags == _BODY)
    texts = np.flatnonzero(live)
    words = [str(tree.values[row]) for row in texts.tolist()]
    titles = np.zeros(len(words), np.bool_)
    for number in np.flatnonzero(characters[texts] <= LONGEST).tolist():
        titles[number] = is_section_title(words[number])
    is_late_title = np.zeros(len(rows), np.int64)
    is_late_title[texts] = titles & (before_long[texts] > 0)
    most, of = _MOST
    marks[whole | (~is_text & (of * within[0] >= most * before[-1]))] = 0
    return _Page(
        tags=tags,
        parents=np.where(rows[:, t.PARENT] < 0, index, rows[:, t.PARENT]),
        ends=ends,
        marks=marks,
        is_text=is_text,
        texts=texts,
        weights=weights,
        linked=linked,
        long=long,
        before=before,
        before_long=before_long,
        characters=within[0],
        links=within[1],
        long_characters=within[2],
        count=within[3],
        images=within[4],
        n_long=int(long.sum()),
        words=words,
        titles=titles,
        depth=_depth(is_text, ends),
        before_titles=_sums(is_late_title),
    )


def _sums(values: NDArray[np.generic]) -> Ints:
    """The sum of all values before each place, and of all at the end."""
    sums = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, out=sums[1:])
    return sums


def _scores(page: _Page, rows: NDArray[np.int32]) -> Ints:
    """How much each element looks like the one around the content, as readability scores candidates."""
    weights, linked = page.weights[page.texts], page.linked[page.texts]
    worth = 100 + 100 * rows[page.texts, t.COMMAS] + np.minimum(weights, _FULL)
    worth = np.where(weights >= _SHORT, worth * (weights - linked) // np.maximum(1, weights), 0)
    scores = np.zeros(len(page.tags))  # whole numbers below 2^53: exact
    element = page.parents[page.texts]
    element = np.where(_IS_INNER[page.tags[element]], page.parents[element], element)
    for share in _UPWARD:
        scores += np.bincount(element, share * worth, len(scores))
        above = page.parents[element]
        worth = np.where(above == element, 0, worth)
        element = above
    own = (page.characters - page.links) / np.maximum(1, page.characters)
    discounted: Ints = (scores * own).astype(np.int64)
    return discounted


Columns = list[NDArray[np.generic]]


def _of_the_text(page: _Page, tree: SimplifiedTree) -> Columns:
    counts = tree.rows[page.texts].astype(np.int64)
    characters = np.maximum(1, counts[:, t.CHARS])
    weights = page.weights[page.texts]
    return [
        weights,
        page.linked[page.texts] / np.maximum(1, weights),
        counts[:, t.COMMAS] / characters,
        counts[:, t.STOPS] / characters,
        counts[:, t.WORDS],
        characters / np.maximum(1, counts[:, t.WORDS]),
        counts[:, t.ENDS],
        counts[:, t.DIGITS] / characters,
        counts[:, t.UPPERS] / characters,
        counts[:, t.WIDE] / characters,
    ]


def _of_its_words(page: _Page) -> Columns:
    times = Counter(page.words)
    place = np.arange(len(page.words))
    last = np.maximum.accumulate(np.where(page.titles, place, -_FAR))
    return [
        np.array([times[text] for text in page.words]),
        np.array([text.endswith(("…", "...")) for text in page.words]),
        page.titles,
        page.before_titles[page.texts],
        np.minimum(_FAR, place - last),
    ]


def _of_its_names(page: _Page) -> Columns:
    """Tags, and what class and id of the elements around it say."""
    element = page.parents[page.texts]
    above = page.parents[element]
    around = _around(page)
    return [
        _CODE[page.tags[element]],
        _CODE[page.tags[above]],
        np.maximum(_HEADING[page.tags[element]], _HEADING[page.tags[above]]),
        page.depth[page.texts],
        ((page.marks[page.texts] | page.marks[element])[:, None] & _MARK_BITS) != 0,
        (around[page.texts][:, None] & _MARK_BITS) != 0,
        (around[page.texts][:, None] & _AROUND_BITS) != 0,
    ]


def _around(page: _Page) -> Ints:
    """The bits of the names and of the tags of all elements around a row, its own included."""
    bits: list[int] = (page.marks | _AROUND_BIT[page.tags]).tolist()
    parents: list[int] = page.parents.tolist()
    for row in np.flatnonzero(~page.is_text).tolist():
        bits[row] |= bits[parents[row]]
    inherited = np.array(bits, np.int64)
    return np.where(page.is_text, inherited | inherited[page.parents], inherited)


def _depth(is_text: NDArray[np.bool_], ends: Ints) -> Ints:
    """How many elements are around each row."""
    change = -np.bincount(ends[~is_text], minlength=len(ends) + 1)
    change[1:] += ~is_text
    return np.cumsum(change[:-1], dtype=np.int64)


def _levels(page: _Page) -> Ints:
    """The elements around each text, the innermost first; shape (texts, _LEVELS). The root is around itself."""
    levels = [page.parents[page.texts]]
    while len(levels) < _LEVELS:
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
        texts,
        page.images[element] / texts,
        scores[element] / max(1, scores.max()),
        _alike(page)[element],
        page.before_titles[page.texts][:, None] - page.before_titles[element],
    ]


def _alike(page: _Page) -> Ints:
    """For every element how many children of its parent have its tag and its names, itself included."""
    keys = (page.parents << 40) | (page.tags << 22) | page.marks
    _, group, size = np.unique(keys, return_inverse=True, return_counts=True)
    alike: Ints = size[group].astype(np.int64)
    return alike


def _of_the_best_container(page: _Page, scores: Ints) -> Columns:
    """Where a text stands from the element with the best score: the innermost element around both."""
    best = int(scores.argmax())
    path = [best]
    while page.parents[path[-1]] != path[-1]:
        path.append(int(page.parents[path[-1]]))
    starts = np.array(path[::-1])  # from the root inwards, so that the ends fall
    texts, ends = page.texts, page.ends[starts][::-1]
    begun, ended = np.searchsorted(starts, texts, "right"), np.searchsorted(ends, texts, "right")
    around = np.maximum(1, np.minimum(begun, len(path) - ended))  # of the path, the root counted
    common = starts[around - 1]
    return [len(path) - around, page.depth[texts] - page.depth[common] - 1, scores[common] / max(1, scores[best])]


def _of_its_place(page: _Page, scores: Ints) -> Columns:
    texts, n = page.texts, len(page.tags)
    best = int(scores.argmax())
    long = np.flatnonzero(page.long)
    inside = long[(long >= best) & (long < page.ends[best])]
    long = inside if len(inside) else long
    first, last = (long[0], long[-1]) if len(long) else (0, n - 1)
    element = page.parents[texts]
    h1 = texts[(_HEADING[page.tags[element]] == 1) | (_HEADING[page.tags[page.parents[element]]] == 1)]
    characters = max(1, page.before[-1])
    return [
        page.before[texts] / characters,
        page.before_long[texts] / max(1, page.before_long[-1]),
        len(texts) - np.arange(len(texts)),
        (texts - first) / n,
        (texts - last) / n,
        (page.before[texts] - page.before[first]) / characters,
        (page.before[texts] - page.before[last]) / characters,
        (texts - (h1[0] if len(h1) else n)) / n,
    ]


def _of_its_neighbours(page: _Page) -> Columns:
    weights, linked = page.weights[page.texts], page.linked[page.texts]
    margin = max(map(abs, _NEIGHBOURS))
    columns: Columns = []
    for values in (weights, linked / np.maximum(1, weights)):
        padded = np.zeros(len(values) + 2 * margin)
        padded[margin : margin + len(values)] = values
        columns += [padded[margin + place : margin + place + len(values)] for place in _NEIGHBOURS]
    sums, linked_sums, place = _sums(weights), _sums(linked), np.arange(len(weights))
    for size in _WINDOWS:
        start, end = np.maximum(0, place - size), np.minimum(len(weights), place + size + 1)
        within = sums[end] - sums[start]
        columns += [within / (end - start), (linked_sums[end] - linked_sums[start]) / np.maximum(1, within)]
    return columns


def _of_the_page(page: _Page, scores: Ints) -> Columns:
    best = int(scores.argmax())
    characters = max(1, page.before[-1])
    values = [
        characters,
        page.n_long,
        page.linked.sum() / characters,
        len(page.texts),
        page.characters[best],
        page.long_characters[best] / max(1, page.before_long[-1]),
    ]
    return [np.full((len(page.texts), len(values)), values)]
