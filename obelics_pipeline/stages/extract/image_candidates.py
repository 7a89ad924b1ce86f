"""The pictures that a page shows, one for each, found among the image rows of its simplified tree."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.core.document import ImageNode
from obelics_pipeline.stages.extract.image_metadata import formatted_filename, rendered_size, styled_sides
from obelics_pipeline.stages.extract.image_source import Attributes, choose_source, looks_like_image
from obelics_pipeline.stages.extract.tags import CUSTOM, TEXT, flags, tag_id
from obelics_pipeline.stages.extract.tree import END, PARENT, TAG, SimplifiedTree, sums_before
from obelics_pipeline.stages.extract.urls import join_url

_PICTURE, _SOURCE, _NOSCRIPT = tag_id("picture"), tag_id("source"), tag_id("noscript")
_MAY_BE_IMAGE = flags("picture", "img")
_MAY_BE_IMAGE[CUSTOM] = True
_SPACER_SIDE = 2  # pixels; an image declared no larger is a tracker or a spacer
_FILE_PARTS = 4  # of an address: name and folders of the original; what stands before is often the server's
_NAMED_PATH = re.compile(r"(?:https?:)?(?://[^/?#\\\s]*)?/[A-Za-z0-9_-]")
_NO_PAGE = re.compile(r"(?!https?:)[a-z][a-z0-9+.-]*:", re.IGNORECASE)  # an address of something else, such as mailto:
_SIZE_SUFFIX = re.compile(r"[-_@]?\d{1,4}[xX]\d{0,4}$|[-_](?:scaled|\d{2,4}w?)$")


class Candidate(NamedTuple):
    """A picture, and where it stands in the tree."""

    row: int
    parent: int  # row of the element around it, pictures and noscripts skipped; -1 for none
    image: ImageNode
    sides: tuple[int, ...]  # declared in pixels, by attributes or by a style: width and height, or one, or none
    href: str | None  # address of the link around it, as written
    lazy: bool  # whether a script was to fill it in
    in_noscript: bool
    leads_home: bool  # the link leads to the front page of the site, as the one around its logo does


def image_candidates(
    tree: SimplifiedTree, url: str, base_href: str | None, wanted: NDArray[np.bool_]
) -> list[Candidate]:
    """The pictures in document order, without trackers, placeholders and bad addresses.

    `url` is the page's own, `base_href` what its base element says; `wanted` has one flag a row, and pictures of other
    rows are not looked at. A picture that stands in a noscript element and again, for a script to load, right beside
    it is one candidate, and so is one that stands twice in a row, for wide screens and for narrow ones.
    """
    base = (join_url(url, base_href) if base_href else None) or url
    fronts = _front_pages(url)
    found: list[Candidate] = []
    tags = tree.rows[:, TAG]
    rows = np.flatnonzero(_MAY_BE_IMAGE[tags] & wanted).tolist()
    if not rows:
        return found
    texts = sums_before(tags == TEXT).data
    skipped = np.flatnonzero((tags == _PICTURE) | (tags == _NOSCRIPT))
    passed = _skipped(skipped.tolist(), tags[skipped].tolist(), tree.rows[skipped, PARENT].tolist())
    after_picture = 0
    for row, (tag, parent, end, *_) in zip(rows, tree.rows[rows, : END + 1].tolist(), strict=True):
        if row < after_picture:
            continue
        sources: list[Attributes] = []
        value = tree.values[row]
        if tag == _PICTURE:
            after_picture = end
            value, sources = _picture(tree, row, end)
        if not isinstance(value, dict):
            continue  # an element that is not of the standard, and no image
        around, in_noscript = passed.get(parent, (parent, False))
        href = _link(tree, row, end) if tag == _PICTURE else tree.hrefs.get(row) or None
        candidate = _candidate(row, around, in_noscript, value, sources, href, base, fronts)
        if candidate is None:
            continue
        last = found[-1] if found and texts[found[-1].row] == texts[row] else None
        if last is not None and _are_twins(last, candidate):
            found[-1] = _shown(last, candidate)
        elif last is None or file_of(last) != file_of(candidate):
            found.append(candidate)
    return found


def _picture(tree: SimplifiedTree, row: int, end: int) -> tuple[Attributes, list[Attributes]]:
    """The img of a picture and its sources; a later img, in a noscript, fills in what the first one leaves open."""
    image: Attributes = {}
    sources: list[Attributes] = []
    for number in range(row + 1, end):
        value = tree.values[number]
        if not isinstance(value, dict):
            continue
        if tree.rows[number, TAG] == _SOURCE:
            sources.append(value)
        else:
            image = {**value, **{k: v for k, v in image.items() if v}} if image else value
    return image, sources


def _candidate(
    row: int,
    parent: int,
    in_noscript: bool,
    image: Attributes,
    sources: list[Attributes],
    href: str | None,
    base: str,
    fronts: frozenset[str],
) -> Candidate | None:
    """The picture of an img element; None for a tracker, a placeholder or a bad address."""
    width, height = rendered_size(image.get("width")), rendered_size(image.get("height"))
    sides = _declared_sides(width, height, image.get("style"))
    if _is_spacer(sides):
        return None
    source = choose_source(image, sources)
    address = join_url(base, source.url) if source else None
    if source is None or address is None:
        return None
    if in_noscript and not image.get("alt") and not looks_like_image(address):
        return None  # a counter, such as /p?c1=2: pictures have a file name or a description
    node = ImageNode(
        src=address,
        unformatted_src=source.url,
        alt_text=" ".join((image.get("alt") or "").split()) or None,
        formatted_filename=formatted_filename(address),
        rendered_width=width,
        rendered_height=height,
    )
    leads_home = href is not None and _may_lead_home(href) and join_url(base, href) in fronts
    return Candidate(row, parent, node, sides, href, source.lazy, in_noscript, leads_home)


def _front_pages(url: str) -> frozenset[str]:
    """The addresses of the front page of a page's site, to which the site's logo links; none for that page itself."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return frozenset()
    if parts.path in ("", "/"):
        return frozenset()
    host = parts.netloc.lower().removeprefix("www.")
    return frozenset(f"{scheme}://{www}{host}/" for scheme in ("http", "https") for www in ("", "www."))


def _may_lead_home(href: str) -> bool:
    """Whether an address may be that of a front page: one that begins with a name of a folder or a file is not."""
    return ".." in href or (_NAMED_PATH.match(href) is None and _NO_PAGE.match(href) is None)


def _link(tree: SimplifiedTree, row: int, end: int) -> str | None:
    """The address of the link around a picture, which its parts know."""
    return next((tree.hrefs[part] for part in range(row, end) if tree.hrefs.get(part)), None)


def _skipped(rows: Iterable[int], tags: Iterable[int], parents: Iterable[int]) -> dict[int, tuple[int, bool]]:
    """Of each picture and noscript: the element around it that is neither, and whether it is, or is in, a noscript.

    Each is looked at once, for they may be nested thousands deep around thousands of images.
    """
    found: dict[int, tuple[int, bool]] = {}
    for row, tag, around in zip(rows, tags, parents, strict=True):
        parent, in_noscript = found.get(around, (around, False))
        found[row] = parent, in_noscript or tag == _NOSCRIPT
    return found


def _are_twins(last: Candidate, this: Candidate) -> bool:
    """Whether two images, one of them in a noscript, are the forms of one picture with and without scripts."""
    if this.in_noscript == last.in_noscript:
        return False
    if picture_name(last.image.src) == picture_name(this.image.src):
        return True
    return this.parent == last.parent and (last.lazy if this.in_noscript else this.lazy)


def _shown(last: Candidate, this: Candidate) -> Candidate:
    """Of two twins the one in the noscript, for it has the real address; with the description of either."""
    chosen, other = (this, last) if this.in_noscript else (last, this)
    alt = chosen.image.alt_text or other.image.alt_text
    return chosen._replace(image=replace(chosen.image, alt_text=alt), href=chosen.href or other.href)


def _declared_sides(width: int | str | None, height: int | str | None, style: str | None) -> tuple[int, ...]:
    """The sides that attributes declare; of those that they leave open, what the style sets."""
    if style and (width is None or height is None):
        styled = styled_sides(style)
        width = styled.get("width") if width is None else width
        height = styled.get("height") if height is None else height
    return tuple(side for side in (width, height) if isinstance(side, int) and side >= 0)


def _is_spacer(sides: Sequence[int]) -> bool:
    """Whether a side is declared as a dot's. One of 0 beside a real one says nothing: it is there for any picture."""
    if max(sides, default=0) > _SPACER_SIDE:
        return any(0 < side <= _SPACER_SIDE for side in sides)
    return bool(sides)


def picture_name(url: str) -> str:
    """The file name of an image's URL without ending and size, the same for a picture's variants."""
    name = url.partition("?")[0].rpartition("/")[2].partition(".")[0]
    return _SIZE_SUFFIX.sub("", name) or url


def file_of(candidate: Candidate) -> str:
    """The end of a picture's address, the same for the forms that an image server makes of it.

    Where the path names no picture, such as /image.php, the query tells which one it is.
    """
    src = candidate.image.src
    return "/".join((src.partition("?")[0] if looks_like_image(src) else src).rsplit("/", _FILE_PARTS)[1:])
