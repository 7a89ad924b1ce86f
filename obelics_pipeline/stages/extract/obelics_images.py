"""Where the reference finds an image's source, and which URL it makes of it (stage 2b, image source rule)."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from obelics_pipeline.core.document import ImageNode
from obelics_pipeline.stages.extract.image_metadata import formatted_filename, rendered_size
from obelics_pipeline.stages.extract.obelics_rules import IMAGE_SOURCE_ATTRIBUTES
from obelics_pipeline.stages.extract.urls import MAX_URL

_DOTS_AND_SLASH = re.compile(r"\.+/")
_HOST_LABEL = re.compile(r"[A-Z0-9](?:[A-Z0-9-]{0,61}[A-Z0-9])?", re.IGNORECASE)
_LAST_LABEL = re.compile(r"[A-Z0-9-]{2,}", re.IGNORECASE)
_SPACE = re.compile(r"\s")
_SCHEMES = ("http://", "https://", "ftp://", "ftps://")


def image_source(attributes: dict[str, str | None]) -> str | None:
    """The reference's choice among the attributes of an img element."""
    for name in IMAGE_SOURCE_ATTRIBUTES:
        value = attributes.get(name)
        if value and "," not in value and " " not in value:
            return value
    return None


def page_netloc(url: str) -> str:
    """The network location of the page URL as written; empty where it cannot be split."""
    try:
        return urlsplit(url).netloc
    except ValueError:
        return ""


def absolute_source(source: str, netloc: str) -> str | None:
    """The absolute URL the reference builds, which ignores the page's directory, base and scheme; None if invalid."""
    if source.startswith("//"):
        source = "http:" + source
    elif not source.startswith("http"):
        if "./" in source:
            source = _DOTS_AND_SLASH.sub("", source)
        source = f"https://{netloc}{'' if source.startswith('/') else '/'}{source}"
    return source if is_valid(source) else None


def is_valid(url: str) -> bool:
    """The reference's URL check: a dotted host without port, user or non-ASCII letters; no white space after it.

    Written as steps instead of the reference's one expression, which takes exponential time on some hosts.
    """
    if len(url) > MAX_URL:
        return False
    lowered = url[:8].lower()
    scheme = next((s for s in _SCHEMES if lowered.startswith(s)), None)
    if scheme is None:
        return False
    rest = url[len(scheme) :]
    end = min((i for i in (rest.find("/"), rest.find("?")) if i >= 0), default=len(rest))
    host, tail = rest[:end].removesuffix("."), rest[end:]
    if tail == "?" or _SPACE.search(tail):
        return False
    *labels, last = host.split(".")
    return bool(labels) and all(map(_HOST_LABEL.fullmatch, labels)) and _LAST_LABEL.fullmatch(last) is not None


def image_node(attributes: dict[str, str | None], source: str, netloc: str) -> ImageNode | None:
    """The image record of an img element with this source; None where its URL is not valid."""
    url = absolute_source(source, netloc)
    if url is None:
        return None
    return ImageNode(
        src=url,
        unformatted_src=source,
        alt_text=attributes.get("alt") or None,
        formatted_filename=formatted_filename(url),
        rendered_width=rendered_size(attributes.get("width")),
        rendered_height=rendered_size(attributes.get("height")),
    )
