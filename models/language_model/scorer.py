"""Documents in, statistics of their tokens out: a model as `beam_jobs.ScoreDocuments` and any engine calls it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import chain, islice

import numpy as np

from obelics_pipeline.core.document import Document
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.device.memory import is_out_of_memory
from obelics_pipeline.models.flamingo.layout import pieces
from obelics_pipeline.models.language_model.layout import Layout, lay_out
from obelics_pipeline.models.language_model.model import NONE, Images, LanguageModel
from obelics_pipeline.models.language_model.prefetch import Prefetch
from obelics_pipeline.models.language_model.statistics import PARTS, Measured, Scored, statistics
from obelics_pipeline.models.language_model.token_measures import token_measures
from obelics_pipeline.models.language_model.vision import Prepared
from obelics_pipeline.models.language_model.windows import largest_image, windows
from obelics_pipeline.models.pictures.distinct import see
from obelics_pipeline.models.pictures.sources import ImageSource, no_images
from obelics_pipeline.models.pictures.whole import whole_picture

EMPTY: Measured = np.empty((0, len(PARTS)), np.float32)


@dataclass(frozen=True, slots=True)
class Scoring:
    """How documents are cut and packed.

    `window_tokens` at most stand in one sequence (fewer where the model has fewer positions), those of images counted;
    `overlap` of them are context from the window before. A row of packed windows has at most `batch_tokens`, and a
    batch `batch_images` images. Rows form within `block_documents`, whose images are decoded while the block before is
    being scored, each distinct image once. The first `max_images` of a document are read, and the others are treated
    as unavailable. An image of more than `image_pixels` is made smaller first. `image_gain`: score documents with
    images a second time, with these left out.

    Scores depend on `window_tokens`, `overlap`, `max_images` and `image_pixels`; the others change them by rounding
    only.
    """

    window_tokens: int = 4096
    overlap: int = 256
    batch_tokens: int = 16384
    batch_images: int = 32
    block_documents: int = 64  # of 4 images each 0.2 GB of pixels, and 0.3 GB of vectors of width 2,048
    max_images: int = 32
    image_pixels: int = 384 * 384
    decoding_threads: int = 8
    image_gain: bool = True


@dataclass(frozen=True, slots=True)
class _Block:
    """Documents that are ready for the device. An image's number in a layout is its place in `prepared`."""

    layouts: list[Layout]
    prepared: list[Prepared]


@dataclass
class LanguageModelScorer:
    """A `DocumentScorer`: `columns.COLUMNS` for each document.

    `images` gives the bytes of an image, or None: see `models.pictures.sources`. `second` is the second model of
    Binoculars, whose tokens are the model's own; it reads the text alone.
    """

    model: LanguageModel
    images: ImageSource = no_images
    scoring: Scoring = field(default_factory=Scoring)
    second: LanguageModel | None = None

    def __post_init__(self) -> None:
        """Raises `UserError` where the windows do not fit the models, or leave no room."""
        limits = [m.positions for m in (self.model, self.second) if m is not None and m.positions is not None]
        length, overlap = min([self.scoring.window_tokens, *limits]), self.scoring.overlap
        self.scoring = replace(self.scoring, window_tokens=length)
        if not 1 <= overlap <= length - 4:
            raise UserError(
                f"language model: overlap is {overlap}; 1 to {length - 4} tokens are valid with windows of {length}"
                + (f", which is all the positions that the model has ({length})" if length in limits else "")
            )
        self._decoders = ThreadPoolExecutor(self.scoring.decoding_threads)
        self._ahead = Prefetch(self._prepare)

    def announce(self, documents: Sequence[Document]) -> None:
        """Begin to prepare documents that a later call of `score` will be given: those of the next unit."""
        for block in self._blocks(documents)[:1]:
            self._ahead.announce(block)

    def score(self, documents: Sequence[Document]) -> list[dict[str, float | None]]:
        """Statistics by name for each document, in their order.

        Raises `UserError` where the device cannot hold one window by itself.
        """
        try:
            ready = self._ahead(self._blocks(documents))
            return [statistics(scored) for block in ready for scored in self._run(block)]
        except RuntimeError as error:
            if not is_out_of_memory(error):
                raise
        raise UserError(
            f"language model: a single window of {self.scoring.window_tokens} tokens does not fit the memory of "
            f"{self.model.device}; set window_tokens lower, or use a device with more"
        )

    def _blocks(self, documents: Sequence[Document]) -> list[Sequence[Document]]:
        size = self.scoring.block_documents
        return [documents[i : i + size] for i in range(0, len(documents), size)]

    def _prepare(self, documents: Sequence[Document]) -> _Block:
        """Lay documents out, and read and decode their images, each once."""
        model = self.model
        most = self.scoring.max_images if model.vision is not None else 0
        images = [document.images()[:most] for document in documents]
        seen = see(chain(*images), self.images, self._decoded, self._decoders)
        tokens = [image.ids for image in seen.pictures]
        layouts = [
            lay_out(pieces(document.nodes, map(seen.number, of_one)), model.encoder(), model.marks, tokens)
            for document, of_one in zip(documents, images, strict=True)
        ]
        return _Block(layouts, seen.pictures)

    def _decoded(self, content: bytes) -> Prepared | None:
        """None for what is no image, or too large for a window."""
        picture = whole_picture(content, self.scoring.image_pixels)
        if picture is None or self.model.vision is None:
            return None
        made = self.model.vision.prepare(picture)
        return made if len(made.ids) <= largest_image(self.scoring.window_tokens, self.scoring.overlap) else None

    def _run(self, block: _Block) -> Iterator[Scored]:
        """Encode each image of a block once, and score its documents."""
        vision, layouts = self.model.vision, block.layouts
        images = NONE
        if vision is not None and block.prepared:
            images = Images(block.prepared, vision.encode(block.prepared, self.scoring.batch_images))
        shown = [i for i, layout in enumerate(layouts) if layout.images]
        plain = [i for i, layout in enumerate(layouts) if not layout.images]
        seen = dict(zip(shown, self._measured([layouts[i] for i in shown], images), strict=True))
        text = dict(zip(plain, self._measured([layouts[i] for i in plain], NONE, self.second), strict=True))
        if self.scoring.image_gain or self.second is not None:
            blank = [layouts[i].without_images() for i in shown]
            text |= zip(shown, self._measured(blank, NONE, self.second), strict=True)
        for i, layout in enumerate(layouts):
            without = text.get(i) if i in seen and self.scoring.image_gain else None
            alone = text.get(i) if self.second is not None else None
            yield Scored(seen[i] if i in seen else text[i], without, alone, layout.n_bytes, len(layout.images))

    def _measured(
        self, layouts: Sequence[Layout], images: Images, second: LanguageModel | None = None
    ) -> list[Measured]:
        """What is said of each document's tokens, put together from that of its windows."""
        scoring = self.scoring
        cut = [windows(layout, self.model.marks.begin, scoring.window_tokens, scoring.overlap) for layout in layouts]
        left = iter(token_measures(self.model, list(chain(*cut)), images, scoring.batch_tokens, second))
        return [np.concatenate([EMPTY, *islice(left, len(of_one))]) for of_one in cut]
