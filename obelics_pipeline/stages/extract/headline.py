"""The headline of a page and its standfirst, found by what the page's head says of them.

They often stand in a header outside of the main content: above a lead picture, beside a date, in a banner.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.stages.extract.tags import TEXT, flags, tag_id
from obelics_pipeline.stages.extract.tree import CHARS, END, TAG, SimplifiedTree, sums_before

HEADLINE, STANDFIRST = "headline", "standfirst"

# Chosen on annotated pages of seven kinds (docs/extraction.md).
_AGREES = 0.5  # of the words of an h1 and of a title that both have
_IS_TITLE = 0.8  # the same for other headings, which are more
_LONGEST = 300  # characters of a headline
_TELLS = 0.7  # of the words of a standfirst and of the page's description that both have
_FEWEST = 6  # words of a standfirst
_NEAR = 12  # texts behind the headline among which the standfirst is looked for
# Bounds of the work on a hostile page: titles and descriptions, parts of a title, and its characters.
_MOST_SAID, _MOST_PARTS, _MOST_CHARS = 8, 8, 1_000

_SEPARATOR = re.compile(r"\s+[|/\-–—:·»«•<>]+\s+|\s*[|｜»]\s*|:\s+")  # between a title and the name of its site
_WORD = re.compile(r"[\u2e80-\ud7ff\uf900-\ufaff]|[^\W\u2e80-\ud7ff\uf900-\ufaff]+")
_ASCII_WORD = re.compile(r"\w", re.ASCII)
_BETWEEN = str.maketrans({c: " " for c in map(chr, range(128)) if not _ASCII_WORD.match(c)})
_GROWTH = 3  # characters that one has without its case, at most: the ligature ffi
_H1 = tag_id("h1")
_HEADING, _FRAME, _ITEM = flags("h1", "h2", "h3", "h4", "h5", "h6"), flags("aside", "footer"), flags("li")


def find_headline(
    tree: SimplifiedTree,
    kept: NDArray[np.bool_],
    names: Sequence[str],
    titles: Sequence[str],
    descriptions: Sequence[str],
) -> dict[int, str]:
    """The role of each text row of the headline and of the standfirst; empty where no element has a headline.

    `kept` has one flag a row of the texts that stay. `names` are those of the site, `titles` and `descriptions`
    what the head says of the page.
    """
    shown = np.flatnonzero(kept & (tree.rows[:, TAG] == TEXT))
    if not len(shown):
        return {}
    first, last = int(shown[0]), int(shown[-1])
    site = {"".join(_words(name)) for name in names}
    known = {" ".join(words): words for title in dict.fromkeys(titles[:_MOST_SAID]) for words in _parts(title)}
    known = {title: words for title, words in known.items() if "".join(words) not in site}
    rows = _main_heading(tree, known.values(), site, first, last) or _titled_text(tree, known, first)
    if not rows:
        return {}
    found = dict.fromkeys(rows, HEADLINE)
    standfirst = _standfirst(tree, rows[-1], [set(_words(text)) for text in dict.fromkeys(descriptions[:_MOST_SAID])])
    return found if standfirst is None else found | {standfirst: STANDFIRST}


def repeats(tree: SimplifiedTree, roles: dict[int, str]) -> NDArray[np.bool_]:
    """Which text rows say the headline again: before it, such as the end of a path, or as a heading."""
    found = np.zeros(len(tree.rows), np.bool_)
    rows = [row for row, role in roles.items() if role == HEADLINE]
    if not rows:
        return found
    said = _words(_text(tree, rows))
    longest = max(said, key=len, default="")  # most texts do not have it, which is told without a look at their words
    may_say = tree.inside_tags(_HEADING)
    may_say[: rows[0]] = True
    may_say &= _GROWTH * tree.rows[:, CHARS] >= sum(map(len, said))
    for row in np.flatnonzero(may_say & (tree.rows[:, TAG] == TEXT)).tolist():
        text = str(tree.values[row]).casefold()
        if longest in text and row not in roles and words_of(text) == said:
            found[row] = True
    return found


def _headings(tree: SimplifiedTree, first: int, last: int) -> Iterator[tuple[int, list[int]]]:
    """The headings outside of the page's frame that may be the main one, every h1 up to the row `last` and the lower
    ones up to `first`: the row of each, and its texts.
    """
    tags, ends = tree.rows[: last + 1, TAG], tree.rows[:, END]
    may_be = _HEADING[tags]
    may_be[first + 1 :] &= tags[first + 1 :] == _H1
    rows = np.flatnonzero(may_be)
    if not len(rows):
        return
    in_frame, before = tree.inside_tags(_FRAME).data, sums_before(tree.rows[:, CHARS]).data
    all_tags = tree.rows[:, TAG].data  # few are looked at: to make numbers of all would take longer
    for row, end in zip(rows.tolist(), ends[rows].tolist(), strict=True):
        if 0 < before[end] - before[row] <= _LONGEST and not in_frame[row]:
            yield row, [inner for inner in range(row, end) if all_tags[inner] == TEXT]


def _main_heading(
    tree: SimplifiedTree, known: Collection[list[str]], site: set[str], first: int, last: int
) -> list[int]:
    """The texts of the h1 that agrees most with a title; without one, of the h1 above the content, or of a lower
    heading above it that is a title. Of two that agree alike the one nearer to the content: the other names the site.
    """
    titles = [set(title) for title in known]
    best: tuple[float, list[int]] = 0.0, []
    said: list[str] = []
    above: list[int] = []
    lower: list[int] = []
    for row, texts in _headings(tree, first, last):
        words = _words(_text(tree, texts))
        distinct = set(words)
        agreement = max((_agreement(distinct, title) for title in titles), default=0.0)
        if tree.rows[row, TAG] != _H1:
            if agreement >= _IS_TITLE and not lower:
                lower = texts
        elif words and "".join(words) not in site:  # else it is the name of the site
            if agreement > best[0] or (agreement == best[0] and row <= first and words != said):
                best, said = (agreement, texts), words
            if row <= first:
                above = texts
    if best[0] >= _AGREES:
        return best[1]
    return lower or above or best[1]


def _titled_text(tree: SimplifiedTree, known: Container[str], first: int) -> list[int]:
    """The last text above the content, or its first one, that is a title and no part of a list."""
    rows = tree.rows[: first + 1]
    texts = np.flatnonzero((rows[:, TAG] == TEXT) & ~tree.inside_tags(_ITEM)[: first + 1])
    for row in texts[::-1].tolist():
        if rows[row, CHARS] <= _LONGEST and " ".join(_words(str(tree.values[row]))) in known:
            return [row]
    return []


def _standfirst(tree: SimplifiedTree, headline: int, descriptions: list[set[str]]) -> int | None:
    """The row of the text near behind the headline that the page's description was taken from."""
    told = [(said, sorted(said, key=len, reverse=True), _least(said)) for said in descriptions if said]
    if not told:
        return None
    least = min(fewest for _, _, fewest in told)
    tags = tree.rows[:, TAG].data
    texts = (row for row in range(headline + 1, len(tags)) if tags[row] == TEXT)
    for row in islice(texts, _NEAR):
        text = str(tree.values[row])
        if _GROWTH * len(text) < least:
            continue
        text = text.casefold()
        if not any(len(text) >= fewest and _has_most(text, longest_first) for _, longest_first, fewest in told):
            continue  # it does not have enough of the words, which is told without a look at its own
        words = set(words_of(text))
        both = max(len(words & said) / max(len(words), len(said)) for said, _, _ in told)
        if len(words) >= _FEWEST and both >= _TELLS:
            return row
    return None


def _least(words: set[str]) -> int:
    """Characters without which no text has `_TELLS` of the words."""
    return sum(sorted(map(len, words))[: int(_TELLS * len(words))])


def _has_most(text: str, words: Sequence[str]) -> bool:
    """Whether a text has `_TELLS` of the words in it, be it as parts of its own. It is soonest told by the longest."""
    missing = 0
    for word in words:
        if word not in text:
            missing += 1
            if (len(words) - missing) / len(words) < _TELLS:
                return False
    return True


def _parts(title: str) -> Iterator[list[str]]:
    """The words of a title, and of what stands before, behind and between its separators.

    What follows `_MOST_PARTS` separators is one part.
    """
    squeezed = " ".join(title[:_MOST_CHARS].split())
    parts = [words for part in _SEPARATOR.split(squeezed, maxsplit=_MOST_PARTS) if (words := _words(part))]
    for begin in range(len(parts)):
        for end in range(begin + 1, len(parts) + 1):
            yield [word for part in parts[begin:end] for word in part]


def _agreement(words: set[str], title: set[str]) -> float:
    """The share of words that both have, of all of theirs: 1 where they have the same."""
    return 2 * len(words & title) / (len(words) + len(title))


def _text(tree: SimplifiedTree, rows: Iterable[int]) -> str:
    return " ".join(str(tree.values[row]) for row in rows)


def _words(text: str) -> list[str]:
    return words_of(text.casefold())


def words_of(text: str) -> list[str]:
    """The words of a text without its case, a character of Chinese or Japanese being one."""
    if text.isascii():
        return text.translate(_BETWEEN).split()  # twice as fast as the pattern
    return _WORD.findall(text)
