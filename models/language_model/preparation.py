"""Documents made ready for a model: laid out, with their images read, decoded and prepared, each once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain

from obelics_pipeline.core.document import Document
from obelics_pipeline.models.flamingo.layout import pieces
from obelics_pipeline.models.language_model.layout import Layout, lay_out
from obelics_pipeline.models.language_model.model import NONE, Images, LanguageModel
from obelics_pipeline.models.language_model.prefetch import Prefetch
from obelics_pipeline.models.language_model.scoring import Scoring
from obelics_pipeline.models.language_model.vision import Prepared
from obelics_pipeline.models.language_model.windows import largest_image
from obelics_pipeline.models.pictures.distinct import see
from obelics_pipeline.models.pictures.sources import ImageSource
from obelics_pipeline.models.pictures.whole import whole_picture


@dataclass(frozen=True, slots=True)
class Block:
    """Documents that are ready for the device. An image's number in a layout is its place in `prepared`."""

    layouts: list[Layout]
    prepared: list[Prepared]


class Preparation:
    """Blocks of documents, each prepared while the caller has the one before. It keeps its threads."""

    def __init__(self, model: LanguageModel, images: ImageSource, scoring: Scoring) -> None:
        self._model, self._images, self._scoring = model, images, scoring
        self._decoders = ThreadPoolExecutor(scoring.decoding_threads)
        self._ahead = Prefetch(self._prepare)

    def blocks(self, documents: Sequence[Document]) -> Iterator[tuple[Block, Images]]:
        """Each block of at most `Scoring.block_documents`, and its images as they were encoded on the device."""
        for block in self._ahead(self._cut(documents) if documents else ()):
            vision, images = self._model.vision, NONE
            if vision is not None and block.prepared:
                images = Images(block.prepared, vision.encode(block.prepared, self._scoring.batch_images))
            yield block, images

    def _cut(self, documents: Sequence[Document]) -> list[Sequence[Document]]:
        """The first block is a quarter of the others: the device waits for nothing else."""
        size = self._scoring.block_documents
        first = max(1, size // 4)
        return [documents[:first], *(documents[i : i + size] for i in range(first, len(documents), size))]

    def _prepare(self, documents: Sequence[Document]) -> Block:
        model = self._model
        most = self._scoring.max_images if model.vision is not None else 0
        images = [document.images()[:most] for document in documents]
        seen = see(chain(*images), self._images, self._decoded, self._decoders)
        tokens = [image.ids for image in seen.pictures]
        layouts = [
            lay_out(pieces(document.nodes, map(seen.number, of_one)), model.encoder(), model.marks, tokens)
            for document, of_one in zip(documents, images, strict=True)
        ]
        return Block(layouts, seen.pictures)

    def _decoded(self, content: bytes) -> Prepared | None:
        """None for what is no image, or too large for a window."""
        picture = whole_picture(content, self._scoring.image_pixels)
        if picture is None or self._model.vision is None:
            return None
        made = self._model.vision.prepare(picture)
        return made if len(made.ids) <= largest_image(self._scoring.window_tokens, self._scoring.overlap) else None
