"""Which of the many addresses of an image is the picture: the default rule set's choice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import NamedTuple

from obelics_pipeline.stages.extract import addresses
from obelics_pipeline.stages.extract.srcset import Candidate, parse_srcset

WIDEST = 2560.0  # pixels; a wider candidate is taken only where none is narrower (a screen's width, bytes grow with it)

Attributes = dict[str, str | None]

# Where lazy loaders keep the real address. A page's own attributes follow (see `_unknown_lazy`).
_LAZY_SRCSET = ("data-srcset", "data-lazy-srcset", "data-lazysrcset", "data-original-set", "lazy-srcset")
_LAZY_SRC = (
    "data-src", "data-original", "data-lazy-src", "data-lazysrc", "data-lazy", "data-lateloadsrc", "data-img-src",
    "data-gt-lazy-src", "data-src-fg", "data-scroll-image", "data-hi-res-src", "data-full-src", "data-url",
    "data-actualsrc", "data-original-src", "data-raw-src", "lazy-src", "lazysrc", "src2",
)  # fmt: skip
# What names or describes an element, and may be the name of a file.
_NO_ADDRESS = frozenset(
    {"src", "alt", "title", "class", "id", "name", "aria-label", "style", "onclick", "onerror", "usemap"}
)
_LAZY = frozenset((*_LAZY_SRCSET, *_LAZY_SRC))
_SRCSETS = frozenset((*_LAZY_SRCSET, "srcset"))
_CHOICES = _LAZY | _SRCSETS
_IMAGE_ENDINGS = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".avif", ".bmp", ".jfif")
_POOR_ENDINGS = (".avif", ".svg", ".jxl", ".heic")  # taken only where nothing else is offered
_POOR_TYPES = frozenset({"image/avif", "image/svg+xml", "image/jxl", "image/heic"})

_NOT_AN_ADDRESS = ("data:", "blob:", "javascript:", "about:", "file:", "#", "{", "[")
# File names, without ending, of pictures that stand in for another; the second set for GIF only.
_PLACEHOLDER_NAMES = frozenset(
    "1x1 blank blank1x1 clear1x1 clearpixel cleardot empty grey-placeholder image-placeholder img-placeholder "
    "lazy-load lazyload lazy-placeholder lazy_placeholder lazyloading loader loading loading-placeholder no-image "
    "noimage pixel pixel1x1 pixel_trans placeholder placeholder-image placeholder_image shim spaceball spacer spinner "
    "trans1x1 transparent transparent-pixel transparent1x1 transpixel whitespace".split()
)
_PLACEHOLDER_GIFS = _PLACEHOLDER_NAMES | frozenset(
    "0 1 b clear dot dummy fallback grey gray lazy load p pix preload s space t trans transp white x".split()
)
_PLACEHOLDER_ENDINGS = (".gif", ".png", ".svg", ".jpg", ".webp")
if addresses.COMPILED:
    addresses.compiled.set_placeholders(_PLACEHOLDER_NAMES, _PLACEHOLDER_GIFS, max(map(len, _PLACEHOLDER_GIFS)))

_NOTHING, _POOR, _GOOD = range(3)  # what an address is good for
_WIDTH = attrgetter("width")


class ImageSource(NamedTuple):
    """The chosen address as written, and whether it came from a lazy attribute or stands in for a placeholder."""

    url: str
    lazy: bool


def choose_source(image: Attributes, picture_sources: Sequence[Attributes] = ()) -> ImageSource | None:
    """The best address of an img (or amp-img) element and of the source elements of the picture around it.

    The widest srcset candidate up to `WIDEST` first, then lazy attributes, then src; formats that few decoders read
    only if there is nothing else; placeholders never. None where no address is left.
    """
    src, given = image.get("src"), _CHOICES.intersection(image)
    worth = _worth(src) if src else _NOTHING
    if src and worth == _GOOD and not picture_sources and not given:
        return ImageSource(src, False)  # the ordinary image: nothing to choose
    lazy = worth == _NOTHING or not given.isdisjoint(_LAZY)  # whether a script is to fill it in
    offered: list[Candidate] = []
    poor_types: list[bool] = []
    for attributes in (*picture_sources, image):
        if candidates := _srcset_candidates(attributes):
            offered += candidates
            poor_types += [(attributes.get("type") or "").strip().lower() in _POOR_TYPES] * len(candidates)
    best = _widest_good([candidate for candidate, is_poor in zip(offered, poor_types, strict=True) if not is_poor])
    if best is not None:
        return ImageSource(best, lazy)
    poor = [candidate for candidate in offered if _worth(candidate.url) != _NOTHING]
    for url in _single_addresses(image):
        worth = _worth(url)
        if worth == _GOOD:
            return ImageSource(url, lazy)
        if worth == _POOR:
            poor.append(Candidate(url, 0.0))
    return ImageSource(_widest(poor), lazy) if poor else None


def figure_source(figure: Attributes) -> str | None:
    """The address of a picture among the attributes of a figure, for one that a script puts its img into."""
    return next(_unknown_lazy(figure), None)


def _worth(url: str) -> int:
    """The worth of an image address: nothing (inline data, or a placeholder for a picture that loads later), poor (a
    format that few decoders read), or good.
    """
    return addresses.compiled.worth(url) if addresses.COMPILED and url.isascii() else worth_in_python(url)


def worth_in_python(url: str) -> int:
    """What `_worth` says, in Python."""
    path = _path(url)
    if not path or path.startswith(_NOT_AN_ADDRESS):
        return _NOTHING
    if path.endswith(_PLACEHOLDER_ENDINGS):
        names = _PLACEHOLDER_GIFS if path.endswith(".gif") else _PLACEHOLDER_NAMES
        if path.rpartition("/")[2].rpartition(".")[0] in names:
            return _NOTHING
    return _POOR if path.endswith(_POOR_ENDINGS) else _GOOD


def leads_elsewhere(href: str) -> bool:
    """Whether a link around an image leads to another page, and not within its own, to a script, or to an image."""
    return not href.lower().startswith(("#", "javascript:", "data:", "mailto:")) and not looks_like_image(href)


def runs_script(href: str) -> bool:
    """Whether a link leads nowhere, so that only a script can make something of it: buttons are written so."""
    href = href.strip().lower()
    return href == "#" or href.startswith("javascript:")


def looks_like_image(url: str) -> bool:
    """Whether the path of an address ends like the name of an image file."""
    if addresses.COMPILED and url.isascii():
        return addresses.compiled.looks_like_image(url)
    return looks_like_image_in_python(url)


def looks_like_image_in_python(url: str) -> bool:
    """What `looks_like_image` says, in Python."""
    return _path(url).endswith(_IMAGE_ENDINGS)


def _srcset_candidates(attributes: Attributes) -> list[Candidate]:
    found: list[Candidate] = []
    if _SRCSETS.isdisjoint(attributes):
        return found
    for name in (*_LAZY_SRCSET, "srcset"):
        value = attributes.get(name)
        if value:
            found += parse_srcset(value)
    return found


def _widest(candidates: list[Candidate]) -> str:
    """The widest up to `WIDEST`, the first of equals; the narrowest where all are wider."""
    fitting = [c for c in candidates if c.width <= WIDEST]
    best = max(fitting, key=_WIDTH) if fitting else min(candidates, key=_WIDTH)
    return best.url


def _widest_good(candidates: list[Candidate]) -> str | None:
    """The same of the good ones. Most are good, so that few are looked at from the widest down."""
    fitting = [c for c in candidates if c.width <= WIDEST]
    if fitting and _worth(widest := max(fitting, key=_WIDTH).url) == _GOOD:
        return widest
    fitting.sort(key=_WIDTH, reverse=True)  # of equals, the first stays the first
    if (best := next((c.url for c in fitting if _worth(c.url) == _GOOD), None)) is not None:
        return best
    good = [c for c in candidates if _worth(c.url) == _GOOD]
    return _widest(good) if good else None


def _single_addresses(image: Attributes) -> Iterable[str]:
    for name in ("src",) if _LAZY.isdisjoint(image) else (*_LAZY_SRC, "src"):
        value = image.get(name)
        if value:
            yield value
    yield from _unknown_lazy(image)


def _unknown_lazy(element: Attributes) -> Iterator[str]:
    """Values of other attributes, such as data-foo-src, that look like an image's address."""
    for name, value in element.items():
        if value and name not in _NO_ADDRESS and looks_like_image(value) and not any(map(str.isspace, value.strip())):
            yield value


def _path(url: str) -> str:
    """The path of an address as written, lower case, without query and fragment."""
    return url.partition("?")[0].partition("#")[0].strip().lower()
