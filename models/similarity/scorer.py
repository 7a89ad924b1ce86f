"""Documents in, the similarity of their images to the text around them out."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from math import isnan, nan

import numpy as np

from obelics_pipeline.core.document import Document, ImageNode
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.device.ahead import one_ahead
from obelics_pipeline.models.device.memory import is_out_of_memory
from obelics_pipeline.models.pictures.distinct import see
from obelics_pipeline.models.pictures.pixels import Picture, picture
from obelics_pipeline.models.pictures.sources import ImageSource, no_images
from obelics_pipeline.models.similarity.clip import Clip
from obelics_pipeline.models.similarity.columns import DIGITS, columns
from obelics_pipeline.models.similarity.neighbours import neighbours
from obelics_pipeline.models.similarity.words import Row

BLOCK = 128  # documents whose images are in memory at a time, and another such block that is being decoded
DECODING_THREADS = 8


@dataclass(frozen=True, slots=True)
class _Block:
    """What is to be compared: for each kept image of each document the number of its picture, and of its texts."""

    pictures: list[Picture]
    rows: list[Row]
    pairs: list[list[tuple[int, list[int]] | None]]


@dataclass
class SimilarityScorer:
    """A `DocumentScorer`: `columns.COLUMNS` for each document.

    `images` gives the bytes of an image, or None: see `models.pictures.sources`. `batch` images, or texts, are encoded
    at a time; of a document the first `max_images` are looked at.
    """

    clip: Clip
    images: ImageSource = no_images
    batch: int = 128
    max_images: int = 64

    def score(self, documents: Sequence[Document]) -> list[dict[str, float | None]]:
        """The columns of each document, in their order.

        Sets `similarity` of every kept image: the larger of its cosines with the nearest text before it and the nearest
        after it (`neighbours`), of each as many tokens as the model reads, those next to the image; None if there is no
        text, or the image is unavailable, cannot be decoded or is one too many. Where the model gives no finite cosine
        for an image, the columns of its document are NaN.
        Raises `UserError` where the device cannot hold one image or text by itself.
        """
        blocks = [documents[i : i + BLOCK] for i in range(0, len(documents), BLOCK)]
        found: list[list[float | None]] = []
        try:
            with ThreadPoolExecutor(DECODING_THREADS) as decoders:
                for block in one_ahead(lambda block: self._prepare(block, decoders), blocks):
                    found += self._compare(block)
        except RuntimeError as error:
            if not is_out_of_memory(error):
                raise
            raise UserError(
                f"similarity: one image or text by itself does not fit the memory of {self.clip.device}; free some of "
                "it, or use a device with more"
            ) from None
        for document, similarities in zip(documents, found, strict=True):
            for image, similarity in zip(document.images(), similarities, strict=True):
                image.similarity = None if similarity is None or isnan(similarity) else similarity
        return [columns(similarities) for similarities in found]

    def _prepare(self, documents: Sequence[Document], decoders: Executor) -> _Block:
        """Find texts and their tokens, and look at the images that have some, each once."""
        wanted = [self._wanted(document) for document in documents]
        prepared = self.clip.preprocessing
        decode = partial(
            picture, side=self.clip.image_side, fit=prepared.resize_mode, interpolation=prepared.interpolation
        )
        seen = see((image for of_one in wanted for image, rows in of_one if rows), self.images, decode, decoders)
        numbers: dict[Row, int] = {}
        pairs: list[list[tuple[int, list[int]] | None]] = []
        for of_one in wanted:
            pairs.append([])
            for image, rows in of_one:
                shown = seen.number(image) if rows else None
                texts = [] if shown is None else [numbers.setdefault(row, len(numbers)) for row in rows]
                pairs[-1].append(None if shown is None else (shown, texts))
        return _Block(seen.pictures, list(numbers), pairs)

    def _wanted(self, document: Document) -> list[tuple[ImageNode, list[Row]]]:
        """The kept images of a document, each with the rows it is compared with: none for those beyond `max_images`."""
        images, words = document.images(), self.clip.words
        sides = neighbours(document.nodes)[: self.max_images]
        rows = [[row for row in (words.last(before), words.first(after)) if row] for before, after in sides]
        return list(zip(images, rows + [[]] * (len(images) - len(rows)), strict=True))

    def _compare(self, block: _Block) -> list[list[float | None]]:
        """Encode a block's pictures and texts, and give each image its similarity."""
        pictures = self.clip.image_vectors(block.pictures, self.batch).astype(np.float64)
        texts = self.clip.text_vectors(block.rows, self.batch).astype(np.float64)

        def similarity(pair: tuple[int, list[int]] | None) -> float | None:
            if pair is None:
                return None
            shown, near = pair
            cosines = [float(pictures[shown] @ texts[text]) for text in near]
            return round(max(cosines), DIGITS) if np.isfinite(cosines).all() else nan  # float16 overflows

        return [[similarity(pair) for pair in of_one] for of_one in block.pairs]
