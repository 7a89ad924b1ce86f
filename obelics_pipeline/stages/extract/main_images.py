"""Which pictures of a page belong to its main content: the lead picture, those among its texts, and no icons."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.stages.extract import tree as t
from obelics_pipeline.stages.extract.image_candidates import Candidate, file_of, picture_name
from obelics_pipeline.stages.extract.image_source import leads_elsewhere
from obelics_pipeline.stages.extract.marks import BITS, marks_of
from obelics_pipeline.stages.extract.tags import flags, tag_id
from obelics_pipeline.stages.extract.tree import SimplifiedTree, sums_before

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
_RELATED = BITS["related"]
_UNSEEN = BITS["unseen"]
_ELSEWHERE = sum(BITS[name] for name in ("avatar", "related", "nav", "byline", "comment", "advert"))
_NAME = 80  # characters at the end of an address that tell what a picture shows
_FRAME, _FIGURE, _CONTENT = flags("aside", "footer"), flags("figure"), flags("article", "main")
_H1 = tag_id("h1")


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a picture stands to the content. Characters are those that are left out in between, None for none there."""

    near_marks: int
    in_figure: bool
    share: float  # of the text around it that is content
    beside: float  # of the text right beside it, such as a title or a caption
    before: int | None  # to the next text of the content, for a picture before all of it
    after: int | None  # to the last text, for a picture behind it
    at_home: bool  # in the element around all content
    announced: bool  # behind the page's title, or in its article
    to_another_page: bool  # it is a link


def picture_rows(tree: SimplifiedTree, kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Where pictures of the main content may stand, one flag a row: near the kept texts. At least one is kept."""
    text = sums_before(tree.rows[:, t.CHARS])
    first, last = np.flatnonzero(kept)[[0, -1]]
    behind = text[:-1] - text[last + 1]
    near: NDArray[np.bool_] = (text[first] - text[:-1] < _BEFORE) & (behind < _AFTER)
    return near & ~tree.inside(_FRAME[tree.rows[:, t.TAG]])


def main_images(
    tree: SimplifiedTree, kept: NDArray[np.bool_], candidates: Iterable[Candidate], lead: frozenset[str]
) -> list[Candidate]:
    """The pictures that belong to the texts that are kept, among the candidates in `picture_rows`.

    `lead` has the names (`picture_name`) of the pictures that the page's head gives for the page.
    """
    shown = [candidate for candidate in candidates if not is_icon(candidate)]
    places = _places(tree, kept, shown) if shown else []
    found: dict[str, Candidate] = {}  # the first of each file: again it is there for other screens
    for candidate, place in zip(shown, places, strict=True):
        if _belongs(candidate, place, picture_name(candidate.image.src) in lead):
            found.setdefault(file_of(candidate), candidate)
    return list(found.values())


def is_icon(candidate: Candidate) -> bool:
    """Whether a picture is declared too small to show anything."""
    side = _longer_side(candidate)
    return side is not None and side < _ICON_SIDE


def _longer_side(candidate: Candidate) -> int | None:
    sides = (candidate.image.rendered_width, candidate.image.rendered_height)
    known = [side for side in sides if isinstance(side, int) and side >= 0]
    return max(known, default=None)


def _belongs(candidate: Candidate, place: _Place, is_lead: bool) -> bool:
    side = _longer_side(candidate)
    if place.near_marks & _UNSEEN or (place.near_marks & _PERSONAL and not place.in_figure):
        return False
    shows_sign = marks_of(candidate.image.src[-_NAME:]) & _PERSONAL
    if shows_sign and place.to_another_page and side is not None and side < _PORTRAIT_SIDE:
        return False
    if place.before is None and place.after is None:
        if place.to_another_page and (
            place.near_marks & _RELATED or (place.beside < _MIN_SHARE and not place.in_figure)
        ):
            return False
        return place.share >= _MIN_SHARE
    if not is_lead and (place.near_marks & _ELSEWHERE or (place.to_another_page and place.share < _MOST_SHARE)):
        return False
    if place.before is not None:
        return place.before < _BEFORE and (place.at_home or place.announced or is_lead)
    return place.after is not None and place.after < _AFTER and place.at_home


def _places(tree: SimplifiedTree, kept: NDArray[np.bool_], candidates: list[Candidate]) -> list[_Place]:
    """Where each picture stands."""
    rows = tree.rows
    tags, parents, ends = rows[:, t.TAG], rows[:, t.PARENT], rows[:, t.END]
    text, content = sums_before(rows[:, t.CHARS]), sums_before(rows[:, t.CHARS] * kept)
    in_figure, in_content = tree.inside(_FIGURE[tags]), tree.inside(_CONTENT[tags])
    first, last = (int(row) for row in np.flatnonzero(kept)[[0, -1]])
    home = _element_around(first, last, parents, ends)
    title = next(iter(np.flatnonzero(tags == _H1).tolist()), len(rows))
    characters = text[ends] - text[:-1]
    surroundings, neighbours = _Surroundings(parents, characters, _CAPTION), _Surroundings(parents, characters, 0)

    def share(element: int) -> float:
        start, end = (element, ends[element]) if element >= 0 else (0, len(rows))
        return float((content[end] - content[start]) / max(1, text[end] - text[start]))

    places = []
    for candidate in candidates:
        row = candidate.row
        place = _Place(
            near_marks=_near_marks(candidate, rows),
            in_figure=bool(in_figure[row]),
            share=share(surroundings.of(candidate.parent)),
            beside=share(neighbours.of(candidate.parent)),
            before=int(text[first] - text[row]) if row < first else None,
            after=int(text[row] - text[last + 1]) if row > last else None,
            at_home=bool(home < row < ends[home]),
            announced=bool(row > title or in_content[row]),
            to_another_page=candidate.href is not None and leads_elsewhere(candidate.href),
        )
        places.append(place)
    return places


def _element_around(first: int, last: int, parents: NDArray[np.int32], ends: NDArray[np.int32]) -> int:
    """The innermost element that holds two rows, the first row of the tree if none does."""
    element = int(parents[first])
    while element >= 0 and ends[element] <= last:
        element = int(parents[element])
    return max(0, element)


class _Surroundings:
    """Finds the innermost element around a picture with more than `most` characters; each element is passed once."""

    def __init__(self, parents: NDArray[np.int32], characters: NDArray[np.int64], most: int) -> None:
        self._parents, self._characters, self._most = parents, characters, most
        self._known = {-1: -1}

    def of(self, element: int) -> int:
        """The row of the element that a picture belongs to, or -1 for the whole page. `element` is the row of its
        parent.
        """
        passed = []
        while element not in self._known and self._characters[element] <= self._most:
            passed.append(element)
            element = int(self._parents[element])
        found = self._known.get(element, element)
        self._known.update(dict.fromkeys(passed, found))
        return found


def _near_marks(candidate: Candidate, rows: NDArray[np.int32]) -> int:
    near, element = int(rows[candidate.row, t.MARKS]), candidate.parent
    for _ in range(_NEAR - 1):
        if element < 0:
            break
        near |= int(rows[element, t.MARKS])
        element = int(rows[element, t.PARENT])
    return near
