"""Which pictures of a page belong to its main content: the lead picture, those among its texts, and no icons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.extract import tree as t
from obelics_pipeline.extract.image_candidates import Candidate, picture_name
from obelics_pipeline.extract.image_source import looks_like_image
from obelics_pipeline.extract.marks import BITS, marks_of
from obelics_pipeline.extract.tags import CUSTOM, tag_id
from obelics_pipeline.extract.tree import SimplifiedTree

# Chosen on pages with reviewed images (docs/extraction.md).
_ICON_SIDE = 50  # pixels; a picture whose longer declared side is shorter is an icon
_PORTRAIT_SIDE = 150  # pixels; up to here a linked picture of a face or a sign is one of the page, not of its content
_BEFORE = 700  # characters that may stand, left out, between a lead picture and the content
_AFTER = 250  # and between the content and a picture that closes it
_CAPTION = 800  # characters; an element with more text is the surroundings of a picture rather than its caption
_MIN_SHARE = 0.3  # of the surroundings' text that is content, for a picture among the content
_MOST_SHARE = 0.8  # and for one at its ends that is a link to another page
_NEAR = 3  # an image and elements around it whose names are those of the image

_PERSONAL = BITS["avatar"]
_ELSEWHERE = sum(BITS[name] for name in ("avatar", "related", "nav", "byline", "comment", "advert"))
_NAME = 80  # characters at the end of an address that tell what a picture shows


def _flags(*names: str) -> NDArray[np.bool_]:
    flags = np.zeros(CUSTOM + 1, np.bool_)
    flags[[tag_id(name) for name in names]] = True
    return flags


_FRAME, _FIGURE, _CONTENT, _H1 = _flags("aside", "footer"), _flags("figure"), _flags("article", "main"), tag_id("h1")


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a picture stands to the content. Characters are those that are left out in between, None for none there."""

    near_marks: int
    in_figure: bool
    share: float  # of the text around it that is content
    before: int | None  # to the next text of the content, for a picture before all of it
    after: int | None  # to the last text, for a picture behind it
    at_home: bool  # in the element around all content
    announced: bool  # behind the page's title, or in its article
    to_another_page: bool  # it is a link


def main_images(
    tree: SimplifiedTree, kept: NDArray[np.bool_], candidates: Iterable[Candidate], lead: frozenset[str]
) -> list[Candidate]:
    """The pictures that belong to the texts that are kept, of which there is at least one.

    `lead` has the names (`picture_name`) of the pictures that the page's head gives for the page.
    """
    chosen: list[Candidate] = []
    for candidate, place in _places(tree, kept, [c for c in candidates if not _is_icon(c)]):
        if _belongs(candidate, place, picture_name(candidate.image.src) in lead):
            chosen.append(candidate)
    return chosen


def _is_icon(candidate: Candidate) -> bool:
    side = _longer_side(candidate)
    return side is not None and side < _ICON_SIDE


def _longer_side(candidate: Candidate) -> int | None:
    sides = (candidate.image.rendered_width, candidate.image.rendered_height)
    known = [side for side in sides if isinstance(side, int) and side >= 0]
    return max(known, default=None)


def _belongs(candidate: Candidate, place: _Place, is_lead: bool) -> bool:
    side = _longer_side(candidate)
    if place.near_marks & _PERSONAL and not place.in_figure:
        return False
    shows_sign = marks_of(candidate.image.src[-_NAME:]) & _PERSONAL
    if shows_sign and place.to_another_page and side is not None and side < _PORTRAIT_SIDE:
        return False
    if place.before is None and place.after is None:
        return place.share >= _MIN_SHARE
    if not is_lead and (place.near_marks & _ELSEWHERE or (place.to_another_page and place.share < _MOST_SHARE)):
        return False
    if place.before is not None:
        return place.before < _BEFORE and (place.at_home or place.announced or is_lead)
    return place.after is not None and place.after < _AFTER and (place.at_home or place.share >= _MOST_SHARE)


def _places(
    tree: SimplifiedTree, kept: NDArray[np.bool_], candidates: list[Candidate]
) -> Iterator[tuple[Candidate, _Place]]:
    """Where each picture outside the page's frame stands."""
    if not candidates:
        return
    rows = tree.rows
    tags, parents, ends = rows[:, t.TAG], rows[:, t.PARENT].tolist(), rows[:, t.END].tolist()
    marks = rows[:, t.MARKS].tolist()
    text, content = _sums(rows[:, t.CHARS]), _sums(rows[:, t.CHARS] * kept)
    framed, in_figure, in_content = (tree.inside(flags[tags]) for flags in (_FRAME, _FIGURE, _CONTENT))
    first, last = (int(row) for row in np.flatnonzero(kept)[[0, -1]])
    home = _element_around(first, last, parents, ends)
    titles = np.flatnonzero(tags == _H1)
    title = int(titles[0]) if len(titles) else len(rows)
    surroundings = _surroundings(tree, text)
    for candidate in candidates:
        row = candidate.row
        if framed[row]:
            continue
        around = surroundings[candidate.parent] if candidate.parent >= 0 else -1
        start, end = (around, ends[around]) if around >= 0 else (0, len(rows))
        yield candidate, _Place(
            near_marks=_near_marks(candidate, marks, parents),
            in_figure=bool(in_figure[row]),
            share=float((content[end] - content[start]) / max(1, text[end] - text[start])),
            before=int(text[first] - text[row]) if row < first else None,
            after=int(text[row] - text[last + 1]) if row > last else None,
            at_home=home < row < ends[home],
            announced=bool(row > title or in_content[row]),
            to_another_page=candidate.href is not None and not looks_like_image(candidate.href),
        )


def _sums(values: NDArray[np.int32]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(values, dtype=np.int64)])


def _element_around(first: int, last: int, parents: list[int], ends: list[int]) -> int:
    """The innermost element that holds two rows, the first row of the tree if none does."""
    element = parents[first]
    while element >= 0 and ends[element] <= last:
        element = parents[element]
    return max(0, element)


def _surroundings(tree: SimplifiedTree, text: NDArray[np.int64]) -> list[int]:
    """For each row the innermost element around or at it with more text than a caption, -1 for none."""
    ends = tree.rows[:, t.END]
    is_wide = (text[ends] - text[:-1] > _CAPTION).tolist()
    found: list[int] = []
    for row, parent in enumerate(tree.rows[:, t.PARENT].tolist()):
        found.append(row if is_wide[row] else found[parent] if parent >= 0 else -1)
    return found


def _near_marks(candidate: Candidate, marks: list[int], parents: list[int]) -> int:
    near, element = marks[candidate.row], candidate.parent
    for _ in range(_NEAR - 1):
        if element < 0:
            break
        near |= marks[element]
        element = parents[element]
    return near
