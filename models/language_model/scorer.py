"""Documents in, statistics of their tokens out: a model as `beam_jobs.ScoreDocuments` and any engine calls it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice

import numpy as np

from obelics_pipeline.core.document import Document
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.device.memory import is_out_of_memory
from obelics_pipeline.models.language_model.layout import Layout
from obelics_pipeline.models.language_model.model import NONE, Images, LanguageModel
from obelics_pipeline.models.language_model.preparation import Preparation
from obelics_pipeline.models.language_model.scoring import Scoring
from obelics_pipeline.models.language_model.statistics import PARTS, Measured, Scored, statistics
from obelics_pipeline.models.language_model.token_measures import token_measures
from obelics_pipeline.models.language_model.windows import windows
from obelics_pipeline.models.pictures.sources import ImageSource, no_images

EMPTY: Measured = np.empty((0, len(PARTS)), np.float32)


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
        both = [model.positions for model in (self.model, self.second) if model is not None]
        self.scoring = self.scoring.within(both)
        self._preparation = Preparation(self.model, self.images, self.scoring)

    def score(self, documents: Sequence[Document]) -> list[dict[str, float | None]]:
        """Statistics by name for each document, in their order.

        Raises `UserError` where the device cannot hold one window by itself.
        """
        try:
            blocks = self._preparation.blocks(documents)
            return [statistics(scored) for block, images in blocks for scored in self._run(block.layouts, images)]
        except RuntimeError as error:
            if not is_out_of_memory(error):
                raise
        raise UserError(too_large(self.model, self.scoring))

    def _run(self, layouts: Sequence[Layout], images: Images) -> Iterator[Scored]:
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


def too_large(model: LanguageModel, scoring: Scoring) -> str:
    """What to tell a person whose device is too small."""
    return (
        f"language model: a single window of {scoring.window_tokens} tokens does not fit the memory of {model.device}; "
        "set window_tokens lower, or use a device with more"
    )
