"""Documents in, statistics of their tokens out: a model as `beam_jobs.ScoreDocuments` and any engine calls it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice

import numpy as np

from obelics_pipeline.core.document import Document
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.device.memory import is_out_of_memory
from obelics_pipeline.models.flamingo.layout import pieces
from obelics_pipeline.models.language_model.layout import Layout, lay_out
from obelics_pipeline.models.language_model.model import LanguageModel
from obelics_pipeline.models.language_model.statistics import PARTS, Measured, Scored, statistics
from obelics_pipeline.models.language_model.token_measures import token_measures
from obelics_pipeline.models.language_model.windows import windows
from obelics_pipeline.models.pictures.sources import ImageSource, no_images


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
    block_documents: int = 128
    max_images: int = 32
    image_pixels: int = 384 * 384
    decoding_threads: int = 8
    image_gain: bool = True


@dataclass
class LanguageModelScorer:
    """A `DocumentScorer`: `columns.COLUMNS` for each document.

    `images` gives the bytes of an image, or None: see `models.pictures.sources`. `second` is the second model of
    Binoculars, whose tokens are the model's own.
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

    def score(self, documents: Sequence[Document]) -> list[dict[str, float | None]]:
        """Statistics by name for each document, in their order.

        Raises `UserError` where the device cannot hold one window by itself.
        """
        size = self.scoring.block_documents
        blocks = [documents[i : i + size] for i in range(0, len(documents), size)]
        try:
            return [statistics(scored) for block in blocks for scored in self._run(block)]
        except RuntimeError as error:
            if not is_out_of_memory(error):
                raise
        raise UserError(
            f"language model: a single window of {self.scoring.window_tokens} tokens does not fit the memory of "
            f"{self.model.device}; set window_tokens lower, or use a device with more"
        )

    def _run(self, documents: Sequence[Document]) -> Iterator[Scored]:
        encode, marks = self.model.encoder(), self.model.marks
        layouts = [lay_out(pieces(document.nodes, ()), encode, marks) for document in documents]
        seen = self._measured(layouts, self.second)
        for layout, measured in zip(layouts, seen, strict=True):
            alone = measured if self.second is not None else None
            yield Scored(measured, None, alone, layout.n_bytes, len(layout.images))

    def _measured(self, layouts: Sequence[Layout], second: LanguageModel | None = None) -> list[Measured]:
        """What is said of each document's tokens, put together from that of its windows."""
        scoring = self.scoring
        cut = [windows(layout, self.model.marks.begin, scoring.window_tokens, scoring.overlap) for layout in layouts]
        left = iter(token_measures(self.model, list(chain(*cut)), scoring.batch_tokens, second))
        return [np.concatenate([np.empty((0, len(PARTS)), np.float32), *islice(left, len(of_one))]) for of_one in cut]
