"""Documents in, how likely each of their images is unsafe out."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from obelics_pipeline.core.document import Document, ImageNode
from obelics_pipeline.models.device.ahead import one_ahead
from obelics_pipeline.models.pictures.distinct import Seen, see
from obelics_pipeline.models.pictures.pixels import Picture, picture
from obelics_pipeline.models.pictures.sources import ImageSource, no_images
from obelics_pipeline.models.unsafe_images.classifier import Classifier
from obelics_pipeline.models.unsafe_images.columns import columns

BLOCK = 64  # documents whose images are in memory at a time, and another such block that is being decoded
DECODING_THREADS = 8


@dataclass
class UnsafeImageScorer:
    """A `DocumentScorer`: `columns.COLUMNS` for each document. `images` gives the bytes of an image, or None."""

    classifier: Classifier
    images: ImageSource = no_images

    def score(self, documents: Sequence[Document]) -> list[dict[str, float | None]]:
        """The columns of each document, in their order.

        Sets `unsafe` of every kept image; None if it is unavailable or cannot be decoded. An image that is in
        several of the documents is looked at once.
        """
        blocks = self._new_in_each_block(documents)
        scores: dict[str, float | None] = {}
        with ThreadPoolExecutor(DECODING_THREADS) as decoders:
            for images, seen in one_ahead(lambda block: (block, self._look(block, decoders)), blocks):
                found = self.classifier.scores(seen.pictures)
                for image in images:
                    number = seen.number(image)
                    scores[_key(image)] = None if number is None else found[number]
        for document in documents:
            for image in document.images():
                image.unsafe = scores[_key(image)]
        return [columns([image.unsafe for image in document.images()]) for document in documents]

    def _new_in_each_block(self, documents: Sequence[Document]) -> list[list[ImageNode]]:
        met: set[str] = set()
        blocks: list[list[ImageNode]] = []
        for start in range(0, len(documents), BLOCK):
            new = {_key(i): i for d in documents[start : start + BLOCK] for i in d.images() if _key(i) not in met}
            met |= new.keys()
            blocks.append(list(new.values()))
        return blocks

    def _look(self, images: Sequence[ImageNode], decoders: Executor) -> Seen[Picture]:
        view = self.classifier.view
        decode = partial(picture, side=view.side, fit=view.fit, interpolation=view.interpolation)
        return see(images, self.images, decode, decoders)


def _key(image: ImageNode) -> str:
    """Equal where the bytes are."""
    return image.sha256 or f"url {image.src}"
