"""The image rules of the paper (A.1.3), each a reason: what an image URL, a file and its declared size must be."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from urllib.parse import parse_qsl, unquote, urlsplit

from obelics_pipeline.core.config.sharding import ImageRulesConfig
from obelics_pipeline.core.document import ImageNode

BANNED_WORD, FORMAT, SIDE = "image_banned_word", "image_format", "image_side"
RENDERED_SIDE, RATIO = "image_rendered_side", "image_ratio"
IMAGE_REASONS = (BANNED_WORD, FORMAT, SIDE, RENDERED_SIDE, RATIO)  # in the order in which they are tried

_LETTERS = re.compile(r"[^\W\d_]+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")  # siteLogo, HTMLIcon
_FILE_NAME = re.compile(r"\.[A-Za-z]\w{1,4}$")


def url_reason(url: str, config: ImageRulesConfig) -> str | None:
    """The reason against an image that its URL alone gives, so that no request is needed; None if the URL is allowed.

    With `banned_as_substrings` a banned word counts anywhere in the URL, host included, in the case given (reference,
    stage 4). Otherwise it counts as a word, singular or plural, of the path or of a path within the query.
    """
    if config.banned_as_substrings:
        return BANNED_WORD if any(word in url for word in config.banned_words) else None
    banned = _lower(config.banned_words)
    found = (word in banned or (word.endswith("s") and word[:-1] in banned) for word in url_words(url))
    return BANNED_WORD if any(found) else None


def image_reason(image: ImageNode, config: ImageRulesConfig) -> str | None:
    """The first reason against an image, of `IMAGE_REASONS` or of a measure in `quality`, or None.

    A fact that is not known (format and original sizes before the fetch, a measure that does not apply) breaks no rule.
    """
    if reason := url_reason(image.src, config):
        return reason
    if image.format is not None and image.format not in config.formats:
        return FORMAT
    if not _sides_hold((image.original_width, image.original_height), config):
        return SIDE
    if config.check_rendered and not _sides_hold(rendered_size(image), config):
        return RENDERED_SIDE
    if not _ratio_holds(image.original_width, image.original_height, config):
        return RATIO
    for name, bounds in config.quality.items():
        score = image.scores.get(name)
        if score is not None and not bounds.holds(score):
            return quality_reason(name)
    return None


def quality_reason(measure: str) -> str:
    """The reason of an image that a bound of `images.quality` drops."""
    return f"image_{measure}"


def rendered_size(image: ImageNode) -> tuple[int | None, int | None]:
    """Declared width and height in pixels; a percentage is taken of the original side (reference, stage 5).

    None where nothing usable is declared, or where a percentage meets an unknown original size.
    """
    return (
        _rendered_side(image.rendered_width, image.original_width),
        _rendered_side(image.rendered_height, image.original_height),
    )


def url_words(url: str) -> Iterator[str]:
    """The words of an image URL in lower case: runs of letters of the decoded path, whole and split at humps.

    Values of the query count where they are a path or a file name, as image proxies carry them
    (`/image?url=%2Fstatic%2Flogo.png`). Hosts are not searched.
    """
    for path in _paths(url):
        for run in _LETTERS.findall(path):
            yield run.lower()
            parts = _HUMP.split(run)
            if len(parts) > 1:
                yield from (part.lower() for part in parts)


def _paths(url: str) -> Iterator[str]:
    try:
        parts = urlsplit(url)
        values = parse_qsl(parts.query)
    except ValueError:  # a bracket in the host, or a query of too many fields: no path can be told
        yield unquote(url)
        return
    yield unquote(parts.path)
    for _name, value in values:
        if "/" in value or _FILE_NAME.search(value):
            inner = value.partition("://")[2].partition("/")[2] if "://" in value else value
            yield unquote(inner)


@lru_cache(maxsize=16)
def _lower(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(word.lower() for word in words)


def _sides_hold(sides: tuple[int | None, int | None], config: ImageRulesConfig) -> bool:
    return all(side is None or config.min_side <= side <= config.max_side for side in sides)


def _ratio_holds(width: int | None, height: int | None, config: ImageRulesConfig) -> bool:
    return not width or not height or config.min_ratio <= width / height <= config.max_ratio


def _rendered_side(declared: int | str | None, original: int | None) -> int | None:
    if declared is None or isinstance(declared, int):
        return declared
    percent = declared.replace("%", "").strip()
    if original is None or not percent.isascii() or not percent.isdigit() or len(percent) > 6:
        return None
    return round(original * int(percent) / 100)
