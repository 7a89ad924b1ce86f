"""Which pictures of a page belong to its content: the lead picture, those among its texts, and no icons."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.stages.extract import tree as t
from obelics_pipeline.stages.extract.image_candidates import Candidate, file_of, picture_name
from obelics_pipeline.stages.extract.image_source import leads_elsewhere, runs_script
from obelics_pipeline.stages.extract.marks import BITS, marks_of
from obelics_pipeline.stages.extract.tags import flags, tag_id
from obelics_pipeline.stages.extract.tree import SimplifiedTree, sums_before

# Chosen on pages with reviewed images (docs/extraction.md).
_ICON_SIDE = 50  # pixels; a picture whose longer declared side is shorter is an icon
_THIN = 50  # pixels; one whose both sides are declared, and one of them is shorter, is a sign in a row of signs
_SMALL_SIDE = 100  # pixels; up to here a picture outside of figures is a sign beside a text
_AGAIN = 3  # times that a picture stands in the page, outside of figures and galleries: from here on it is of its form
_PORTRAIT_SIDE = 150  # pixels; up to here a linked picture of a face or a sign is one of the page, not of its content
_BEFORE = 700  # characters that may stand, left out, between a lead picture and the content
_AFTER = 250  # and between the content and a picture that closes it
_BESIDE = 10  # characters that may stand between the content and a picture right behind the element around it
_ABOVE = 100  # characters that may stand between a gallery and the headline behind it
_CAPTION = 800  # characters; an element with more text is the surroundings of a picture rather than its caption
_MIN_SHARE = 0.3  # of the surroundings' text that is content, for a picture among the content
_MOST_SHARE = 0.8  # and for one at its ends that is a link to another page
_SURE_SHARE = 0.99  # where all around a picture above the content is content, names say nothing else
_NEAR = 3  # an image and elements around it whose names are those of the image

_SIZE_IN_NAME = re.compile(r"-(\d{2,4})x\d{2,4}(?=\.\w+$)", re.ASCII)  # as WordPress names the sizes of a picture

_PERSONAL = BITS["avatar"]
_RELATED = BITS["related"]
_UNSEEN, _LABEL = BITS["unseen"], BITS["tags"]
_POPUP, _SHARE, _BYLINE, _GALLERY = (BITS[name] for name in ("popup", "share", "byline", "gallery"))
_FRAME_MARKS = _PERSONAL | BITS["nav"] | BITS["advert"]
_ELSEWHERE = sum(BITS[name] for name in ("avatar", "related", "nav", "byline", "comment", "advert"))
_NAME = 80  # characters at the end of an address that tell what a picture shows
_FRAME, _FIGURE, _CONTENT = flags("aside", "footer"), flags("figure"), flags("article", "main")
_HEADER = flags("header")
_H1 = tag_id("h1")
# The bits of the compiled ground: header, figure, content, title (_tree.c).
_BITS_OF_TAGS = (_HEADER | _FIGURE << 1 | _CONTENT << 2 | flags("h1") << 3).astype(np.uint8).tobytes()


class _Place(NamedTuple):
    """Where a picture stands to the content. Characters are those that are left out in between, None for none there."""

    near_marks: int
    in_figure: bool
    share: float  # of the text around it that is content
    beside: float  # of the text right beside it, such as a title or a caption
    before: int | None  # to the next text of the content, for a picture before all of it
    after: int | None  # to the last text, for a picture behind it
    at_home: bool  # in the element around all content
    announced: bool  # behind the page's title, or in its article
    in_header: bool
    to_another_page: bool  # it is a link


def picture_rows(tree: SimplifiedTree, kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Where pictures of the main content may stand, one flag a row: near the kept texts. At least one is kept."""
    text = sums_before(tree.rows[:, t.CHARS])
    first, last = kept.argmax(), len(kept) - 1 - kept[::-1].argmax()
    behind = text[:-1] - text[last + 1]
    near: NDArray[np.bool_] = (text[first] - text[:-1] < _BEFORE) & (behind < _AFTER)
    return near & ~tree.inside_tags(_FRAME)


def main_images(
    tree: SimplifiedTree,
    kept: NDArray[np.bool_],
    headline: Iterable[int],
    candidates: Iterable[Candidate],
    lead: frozenset[str],
) -> list[Candidate]:
    """The pictures that belong to the texts that are kept and to the headline, whose rows are given, among the
    candidates in `picture_rows`.

    `lead` has the names (`picture_name`) of the pictures that the page's head gives for the page.
    """
    shown = _pictures(tree, candidates)
    if not shown:
        return []
    places = places_of(tree, kept, shown)
    opened = kept.copy()
    opened[list(headline)] = True
    if opened.argmax() < kept.argmax():
        before = [number for number, place in enumerate(places) if place.before is not None]
        above = places_of(tree, opened, [shown[number] for number in before])
        for number, over in zip(before, above, strict=True):
            if over.before is not None:
                places[number] = over._replace(at_home=places[number].at_home)
    found: dict[str, Candidate] = {}  # the first of each file: again it is there for other screens
    widest: dict[str, float] = {}  # of the pictures so far, by name
    for candidate, place in zip(shown, places, strict=True):
        if _belongs(candidate, place, _is_one_of(candidate.image.src, lead)):
            name, width = _sized(file_of(candidate))
            if place.in_figure or width > widest.get(name, 0.0):  # with a caption it is there for its own sake
                found.setdefault(file_of(candidate), candidate)
            widest[name] = max(width, widest.get(name, 0.0))
    return list(found.values())


def _sized(file: str) -> tuple[str, float]:
    """A picture's file without the size in its name, and the width of that in pixels; infinite for the original."""
    found = _SIZE_IN_NAME.search(file)
    return (file, inf) if found is None else (file[: found.start()] + file[found.end() :], float(found[1]))


def _is_one_of(src: str, names: frozenset[str]) -> bool:
    """Whether a picture has one of the names, each of which would be a part of its address."""
    return any(name in src for name in names) and picture_name(src) in names


def page_images(tree: SimplifiedTree, candidates: Iterable[Candidate]) -> list[Candidate]:
    """The pictures of a page that is kept whole: all but signs, faces, and those of its menus and advertisements."""
    shown = _pictures(tree, candidates)
    in_figure, cells = tree.inside_tags(_FIGURE).data, tree.rows.data
    return [c for c in shown if in_figure[c.row] or not (_is_small(c) or _is_framing(c, _near_marks(c, cells)))]


def _pictures(tree: SimplifiedTree, candidates: Iterable[Candidate]) -> list[Candidate]:
    """Those that are large enough to show something, and do not stand all over the page."""
    found = [candidate for candidate in candidates if not is_icon(candidate)]
    times = Counter([candidate.image.src for candidate in found])
    if max(times.values(), default=0) < _AGAIN:
        return found
    in_figure, cells = tree.inside_tags(_FIGURE).data, tree.rows.data
    return [c for c in found if times[c.image.src] < _AGAIN or in_figure[c.row] or _near_marks(c, cells) & _GALLERY]


def _is_framing(candidate: Candidate, near_marks: int) -> bool:
    """Whether the names around a picture say that it shows a person or a sign, or belongs to a menu."""
    if near_marks & _FRAME_MARKS or not near_marks & _BYLINE:
        return bool(near_marks & _FRAME_MARKS)
    side = _longer_side(candidate)
    return side is None or side < _PORTRAIT_SIDE


def is_icon(candidate: Candidate) -> bool:
    """Whether a picture is declared too small to show anything."""
    side = _longer_side(candidate)
    return side is not None and side < _ICON_SIDE


def _is_small(candidate: Candidate) -> bool:
    """Whether it is declared as small or as thin as the signs beside texts are."""
    sides = candidate.sides
    return bool(sides) and (max(sides) < _SMALL_SIDE or (len(sides) > 1 and 0 < min(sides) < _THIN))


def _longer_side(candidate: Candidate) -> int | None:
    return max(candidate.sides, default=None)


def _belongs(candidate: Candidate, place: _Place, is_lead: bool) -> bool:
    marks = place.near_marks
    if marks & _UNSEEN or not (place.in_figure or is_lead or not (marks & _PERSONAL or _is_small(candidate))):
        return False
    if place.before is not None and place.share >= _SURE_SHARE and not place.to_another_page:
        marks = 0
    if _names_say_no(candidate, place, marks, is_lead):
        return False
    if place.before is None and place.after is None:
        if place.to_another_page and (marks & _RELATED or (place.beside < _MIN_SHARE and not place.in_figure)):
            return False
        return place.share >= _MIN_SHARE
    if candidate.leads_home:
        return False
    if not is_lead and (marks & _ELSEWHERE or (place.to_another_page and place.share < _MOST_SHARE)):
        return False
    if place.before is not None:
        if candidate.href is not None and runs_script(candidate.href) and not (place.in_figure or is_lead):
            return False  # above the content stand buttons to print, to share, to choose a language
        return place.before < _BEFORE and (place.at_home or place.announced or is_lead or _opens(candidate, place))
    beside = place.after is not None and place.after < _BESIDE and not place.to_another_page
    return beside or (place.after is not None and place.after < _AFTER and place.at_home)


def _names_say_no(candidate: Candidate, place: _Place, marks: int, is_lead: bool) -> bool:
    """Whether the names around a picture, or its own, tell of a person, of something that pops up, or of sharing."""
    side = _longer_side(candidate)
    is_portrait = side is not None and side < _PORTRAIT_SIDE
    if is_portrait and place.to_another_page and marks_of(candidate.image.src[-_NAME:]) & _PERSONAL:
        return True
    if place.to_another_page and marks & _SHARE:
        return True
    is_among = place.before is None and not place.in_figure and not is_lead
    return bool((is_portrait and marks & _BYLINE) or (marks & _POPUP and is_among))


def _opens(candidate: Candidate, place: _Place) -> bool:
    """Whether a picture is one of a gallery right above the headline. Trackers have no size and no description."""
    told = candidate.image.alt_text or candidate.sides
    near = place.before is not None and place.before < _ABOVE
    return bool(told) and near and not place.to_another_page and not place.in_header


def places_of(tree: SimplifiedTree, kept: NDArray[np.bool_], candidates: Sequence[Candidate]) -> list[_Place]:
    """Where each picture stands to what is kept, compiled where that was built."""
    if not t.COMPILED:
        return places_in_python(tree, kept, candidates)
    rows = [(candidate.row, candidate.parent) for candidate in candidates]
    found = t.compiled.places(tree.rows, kept, rows, _BITS_OF_TAGS, _CAPTION, _NEAR, _UNSEEN, _LABEL)
    return [_Place(*place, _leads_away(candidate)) for place, candidate in zip(found, candidates, strict=True)]


def places_in_python(tree: SimplifiedTree, kept: NDArray[np.bool_], candidates: Sequence[Candidate]) -> list[_Place]:
    """What `places_of` says, in Python."""
    return _Ground(tree).places(kept, candidates)


def _leads_away(candidate: Candidate) -> bool:
    return candidate.href is not None and leads_elsewhere(candidate.href)


class _Ground:
    """Where pictures stand in a page."""

    def __init__(self, tree: SimplifiedTree) -> None:
        rows = tree.rows
        self._cells, self._characters = rows.data, rows[:, t.CHARS]
        tags = rows[:, t.TAG]
        # Few of them are looked at: to make numbers of all would take longer.
        self._parents, self._ends = rows[:, t.PARENT].data, rows[:, t.END].data
        self._text = sums_before(rows[:, t.CHARS]).data
        in_header, in_figure, in_content = map(tree.inside_tags, (_HEADER, _FIGURE, _CONTENT))
        self._in_header, self._in_figure, self._in_content = in_header.data, in_figure.data, in_content.data
        self._title = next(iter((tags == _H1).nonzero()[0].tolist()), len(rows))
        self._surroundings = _Surroundings(self._parents, self._ends, self._text, _CAPTION)
        self._neighbours = _Surroundings(self._parents, self._ends, self._text, 0)

    def places(self, kept: NDArray[np.bool_], candidates: Iterable[Candidate]) -> list[_Place]:
        """Where each picture stands to what is kept."""
        text, ends = self._text, self._ends
        content = sums_before(self._characters * kept).data
        first, last = int(kept.argmax()), len(kept) - 1 - int(kept[::-1].argmax())
        home = _element_around(first, last, self._parents, ends)

        def share(element: int) -> float:
            start, end = (element, ends[element]) if element >= 0 else (0, len(ends))
            return float((content[end] - content[start]) / max(1, text[end] - text[start]))

        places = []
        for candidate in candidates:
            row = candidate.row
            place = _Place(
                near_marks=_near_marks(candidate, self._cells),
                in_figure=bool(self._in_figure[row]),
                share=share(self._surroundings.of(candidate.parent)),
                beside=share(self._neighbours.of(candidate.parent)),
                before=text[first] - text[row] if row < first else None,
                after=text[row] - text[last + 1] if row > last else None,
                at_home=home < row < ends[home],
                announced=bool(row > self._title or self._in_content[row]),
                in_header=bool(self._in_header[row]),
                to_another_page=_leads_away(candidate),
            )
            places.append(place)
        return places


def _element_around(first: int, last: int, parents: Sequence[int], ends: Sequence[int]) -> int:
    """The innermost element that holds two rows, the first row of the tree if none does."""
    element = parents[first]
    while element >= 0 and ends[element] <= last:
        element = parents[element]
    return max(0, element)


class _Surroundings:
    """Finds the innermost element around a picture with more than `most` characters; each element is passed once."""

    def __init__(self, parents: Sequence[int], ends: Sequence[int], text: Sequence[int], most: int) -> None:
        self._parents, self._ends, self._text, self._most = parents, ends, text, most
        self._known = {-1: -1}

    def of(self, element: int) -> int:
        """The row of the element that a picture belongs to, or -1 for the whole page. `element` is the row of its
        parent.
        """
        passed = []
        text, ends = self._text, self._ends
        while element not in self._known and text[ends[element]] - text[element] <= self._most:
            passed.append(element)
            element = self._parents[element]
        found = self._known.get(element, element)
        self._known.update(dict.fromkeys(passed, found))
        return found


def _near_marks(candidate: Candidate, cells: memoryview) -> int:
    """The marks of a picture and of the elements right around it; `cells` are the rows of the tree."""
    near, element = 0, candidate.row
    for _ in range(_NEAR):
        marks = cells[element, t.MARKS]
        near |= marks & ~_UNSEEN if marks & _LABEL else marks  # what is label-hidden lacks a label only
        element = candidate.parent if element == candidate.row else cells[element, t.PARENT]
        if element < 0:
            break
    return near
