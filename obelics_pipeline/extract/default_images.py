"""Images of the default rule set: resolved, stripped of trackers, each picture once beside its noscript twin."""

from __future__ import annotations

import re

from obelics_pipeline.document import ImageNode, Node
from obelics_pipeline.extract.head import Head
from obelics_pipeline.extract.image_metadata import formatted_filename, rendered_size
from obelics_pipeline.extract.image_source import Attributes, choose_source, looks_like_image
from obelics_pipeline.extract.urls import join_url

_SIZE_SUFFIX = re.compile(r"[-_@]?\d{1,4}[xX]\d{0,4}$|[-_](?:scaled|\d{2,4}w?)$")
_SPACER_SIDE = 2  # pixels; an image declared no larger is a tracker or a spacer


class ImageCollector:
    """Appends the images of one page to its nodes."""

    def __init__(self, nodes: list[Node], url: str, head: Head) -> None:
        self._nodes = nodes
        self._url = url
        self._head = head
        self._base: tuple[str | None, str] = (None, url)
        self._lazy = False  # whether a script was to fill in the last image
        self._noscript = False  # whether the last image stood in a noscript element
        self._parent = 0  # identity of the parent element of the last image, noscript and picture passed over

    def candidate(
        self, image: Attributes, sources: list[Attributes], role: str, *, in_noscript: bool
    ) -> tuple[ImageNode, bool] | None:
        """The node of an img element, and whether it is lazy; None for a tracker, a placeholder or a bad address."""
        width, height = rendered_size(image.get("width")), rendered_size(image.get("height"))
        if _is_spacer(width) or _is_spacer(height):
            return None
        source = choose_source(image, sources)
        url = join_url(self._base_url(), source.url) if source else None
        if source is None or url is None:
            return None
        if in_noscript and not image.get("alt") and not looks_like_image(url):
            return None  # a counter, such as /p?c1=2: pictures have a file name or a description
        node = ImageNode(
            src=url,
            unformatted_src=source.url,
            alt_text=" ".join((image.get("alt") or "").split()) or None,
            formatted_filename=formatted_filename(url),
            rendered_width=width,
            rendered_height=height,
            role="noscript" if in_noscript and role == "inline" else role,
        )
        return node, source.lazy

    def add(self, node: ImageNode, lazy: bool, parent: int, *, in_noscript: bool) -> None:
        """Append an image, unless it and the one right before it are the lazy and the noscript form of one picture."""
        last = self._nodes[-1] if self._nodes else None
        if isinstance(last, ImageNode) and self._are_twins(last, node, lazy, parent, in_noscript):
            if in_noscript:
                node.alt_text = node.alt_text or last.alt_text
                self._nodes[-1] = node
            return
        self._nodes.append(node)
        self._lazy, self._noscript, self._parent = lazy, in_noscript, parent

    def _are_twins(self, last: ImageNode, node: ImageNode, lazy: bool, parent: int, in_noscript: bool) -> bool:
        if in_noscript == self._noscript:
            return False
        if picture_name(last.src) == picture_name(node.src):
            return True
        return parent == self._parent and (self._lazy if in_noscript else lazy)

    def _base_url(self) -> str:
        """The address that references are relative to: the base element's, itself relative to the page."""
        href, base = self._base
        if href != self._head.base_href:
            href = self._head.base_href
            base = (join_url(self._url, href) if href else None) or self._url
            self._base = (href, base)
        return base


def _is_spacer(side: int | str | None) -> bool:
    return isinstance(side, int) and 0 <= side <= _SPACER_SIDE


def picture_name(url: str) -> str:
    """The file name of an image's URL without ending and size, the same for a picture's variants."""
    name = url.partition("?")[0].rpartition("/")[2].partition(".")[0]
    return _SIZE_SUFFIX.sub("", name) or url
