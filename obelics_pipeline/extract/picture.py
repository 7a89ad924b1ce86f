"""A picture element: the attributes of its img and of its sources."""

from __future__ import annotations

from selectolax.lexbor import LexborNode

from obelics_pipeline.extract.image_source import Attributes
from obelics_pipeline.extract.tags import tag_id

_IMAGE = tag_id("img")
_SOURCE = tag_id("source")
MAX_NODES = 200  # nodes of one picture that are looked at


def read_picture(picture: LexborNode) -> tuple[Attributes, list[Attributes]]:
    """The first img of a picture, or one in its noscript where that one has no address of its own; and its sources."""
    image: Attributes = {}
    sources: list[Attributes] = []
    for count, node in enumerate(picture.traverse()):
        tag = node.tag_id
        if tag == _SOURCE:
            sources.append(node.attributes)
        elif tag == _IMAGE:
            # A later img is the noscript twin: it fills in what the first one leaves open.
            image = {**node.attributes, **{k: v for k, v in image.items() if v}} if image else node.attributes
        if count >= MAX_NODES:
            break
    return image, sources
