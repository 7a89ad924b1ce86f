"""A number for each image of many documents, by a model that looks at one picture at a time: each image once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from obelics_pipeline.core.document import Document, ImageNode
from obelics_pipeline.models.device.ahead import one_ahead
from obelics_pipeline.models.pictures.distinct import see
from obelics_pipeline.models.pictures.pixels import Picture
from obelics_pipeline.models.pictures.sources import ImageSource

BLOCK = 64  # documents whose images are in memory at a time, and another such block that is being decoded
DECODING_THREADS = 8


def measured(
    documents: Sequence[Document],
    source: ImageSource,
    decode: Callable[[bytes], Picture | None],
    measure: Callable[[Sequence[Picture]], Sequence[float | None]],
) -> list[list[float | None]]:
    """What is measured of the kept images of each document, in their order.

    None for an image that is unavailable or cannot be decoded, and what `measure` gives for a picture. An image that is
    in several of the documents is looked at once.
    """
    found: dict[str, float | None] = {}
    with ThreadPoolExecutor(DECODING_THREADS) as decoders:
        blocks = _new_in_each_block(documents)
        looking = one_ahead(lambda block: (block, see(block, source, decode, decoders)), blocks)
        for images, seen in looking:
            numbers = measure(seen.pictures)
            for image in images:
                place = seen.number(image)
                found[_key(image)] = None if place is None else numbers[place]
    return [[found[_key(image)] for image in document.images()] for document in documents]


def _new_in_each_block(documents: Sequence[Document]) -> list[list[ImageNode]]:
    met: set[str] = set()
    blocks: list[list[ImageNode]] = []
    for start in range(0, len(documents), BLOCK):
        new = {_key(i): i for d in documents[start : start + BLOCK] for i in d.images() if _key(i) not in met}
        met |= new.keys()
        blocks.append(list(new.values()))
    return blocks


def _key(image: ImageNode) -> str:
    """Equal where the bytes are."""
    return image.sha256 or f"url {image.src}"
