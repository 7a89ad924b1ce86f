"""What a page declares about an image: its rendered size and the words of its file name.

The rules are the reference's (stage 2c, item 5: image record), kept for both rule sets so that the published
columns mean the same everywhere.
"""

from __future__ import annotations

import re

from obelics_pipeline.stages.extract import addresses

_IGNORED_IN_SIZE = str.maketrans("", "", '\u201d"<>')
_PIXELS = str.maketrans("", "", "px;")
_MAX_DIGITS = 9  # a longer number is no size of an image

_STYLED_SIDE = re.compile(r"(?:^|[;\s])(width|height)\s*:\s*([1-9][0-9]{0,4})(?:\.[0-9]+)?px", re.IGNORECASE | re.ASCII)

_QUERY_NAME = re.compile(r"\?[A-Za-z0-9]+=")
_ENCODED = re.compile(r"%20*")
_SIZE_IN_NAME = re.compile(r"[0-9]+x[0-9]+")
_DIGITS = re.compile(r"[0-9]+")
_TO_CLEAN = re.compile(r"[0-9%+\n]|  ")
_SPACES = re.compile(r" {2,}")


def rendered_size(value: str | None) -> int | str | None:
    """A width or height attribute: pixels as int, a percentage as written, None where it says nothing usable."""
    if value is None:
        return None
    if len(value) <= _MAX_DIGITS and value.isdecimal():
        return int(value)  # nearly all
    size = value.translate(_IGNORED_IN_SIZE)
    if len(size) > 40:
        return None
    number = _integer(size)
    if number is not None:
        return number
    if "px" in size:
        return _integer(size.translate(_PIXELS))
    if "%" in size:
        return size.strip()
    if "." in size:
        try:
            return int(float(size))
        except (ValueError, OverflowError):
            return None
    return "100%" if size in ("full-width", "auto") else None


def styled_sides(style: str) -> dict[str, int]:
    """The width and the height that a style attribute sets in pixels, by these names, each where it is set.

    None of them is 0: with it, frameworks let the space around decide (`width: 0; min-width: 100%`).
    """
    return {name.lower(): int(pixels) for name, pixels in _STYLED_SIDE.findall(style)}


def _integer(text: str) -> int | None:
    try:
        return int(text) if len(text) <= _MAX_DIGITS else None
    except ValueError:
        return None


def formatted_filename(url: str) -> str | None:
    """The words of an image's file name, or None where none are left."""
    return addresses.compiled.file_words(url) if addresses.COMPILED and url.isascii() else filename_in_python(url)


def filename_in_python(url: str) -> str | None:
    """What `formatted_filename` says, in Python."""
    name = url.rpartition("/")[2].partition(".")[0]
    if "?" in name and _QUERY_NAME.search(name):
        return None
    name = name.replace("_", " ").replace("-", " ")
    if not _TO_CLEAN.search(name):
        name = name.strip()
        return name if len(name) > 1 else None
    if "%" in name:
        name = _ENCODED.sub(" ", name)
    name = _DIGITS.sub(" ", _SIZE_IN_NAME.sub("", name))
    if "  " in name:
        name = _SPACES.sub(" ", name)
    for mark in ("\n", "+", "%B", "%"):
        name = name.replace(mark, " ")
    name = name.strip()
    return name if len(name) > 1 else None
