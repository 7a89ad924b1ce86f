"""Documents in, statistics of their token losses out: a model as `beam_jobs.ScoreDocuments` and any engine calls it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from typing import Any

import numpy as np

from obelics_pipeline.core.document import Document
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.device.ahead import one_ahead
from obelics_pipeline.models.device.memory import is_out_of_memory
from obelics_pipeline.models.flamingo.assembly import FlamingoModel
from obelics_pipeline.models.flamingo.layout import Layout, lay_out, pieces
from obelics_pipeline.models.flamingo.statistics import Scored, statistics
from obelics_pipeline.models.flamingo.token_loss import Losses, encode_images, token_losses
from obelics_pipeline.models.flamingo.unigram import Unigram
from obelics_pipeline.models.flamingo.windows import windows
from obelics_pipeline.models.pictures.distinct import see
from obelics_pipeline.models.pictures.pixels import Picture, picture
from obelics_pipeline.models.pictures.sources import ImageSource, no_images


@dataclass(frozen=True, slots=True)
class Scoring:
    """How documents are cut and batched.

    `window_tokens` at most stand in one sequence (fewer where the model has fewer positions), `overlap` of them are
    context from the window before. A batch has at most `batch_tokens`, padding counted, and `batch_images` pictures.
    Batches form within `block_documents`, whose images are decoded while the block before is being scored, each
    distinct image once. The first `max_images` of a document are read, and the others are treated as unavailable:
    no page may ask for any amount of memory (documents of OBELICS have 30 images at most). `image_gain`: score
    documents with images a second time, with these hidden.

    Scores depend on `window_tokens`, `overlap` and `max_images`; the others change them by rounding only.
    """

    window_tokens: int = 2048
    overlap: int = 256
    batch_tokens: int = 16384  # 1.6 GB of bfloat16 logits over 50,000 words
    batch_images: int = 128
    block_documents: int = 128
    max_images: int = 64
    decoding_threads: int = 8
    image_gain: bool = True


@dataclass(frozen=True, slots=True)
class _Block:
    """Documents that are ready for the device. An image's number in a layout is its place in `pictures`."""

    layouts: list[Layout]
    pictures: list[Picture]


@dataclass
class FlamingoScorer:
    """A `DocumentScorer`: `statistics.COLUMNS` for each document.

    `images` gives the bytes of an image, or None: see `images`. `unigram` is of the model's own vocabulary.
    """

    model: FlamingoModel
    images: ImageSource = no_images
    scoring: Scoring = field(default_factory=Scoring)
    unigram: Unigram | None = None

    def __post_init__(self) -> None:
        """Raises `UserError` where the windows do not fit the model, or leave no room."""
        limit = self.model.positions
        if limit is not None and limit < self.scoring.window_tokens:
            self.scoring = replace(self.scoring, window_tokens=limit)
        length, overlap = self.scoring.window_tokens, self.scoring.overlap
        if not 1 <= overlap <= length - 3:
            raise UserError(
                f"Flamingo: overlap is {overlap}; 1 to {length - 3} tokens are valid with windows of {length}"
                + (f", which is all the positions that the model has ({limit})" if length == limit else "")
            )

    def score(self, documents: Sequence[Document]) -> list[dict[str, float | None]]:
        """Statistics by name for each document, in their order.

        Raises `UserError` where the device cannot hold one window by itself.
        """
        size = self.scoring.block_documents
        blocks = [documents[i : i + size] for i in range(0, len(documents), size)]
        try:
            return [statistics(scored, self.unigram) for block in self._prepared(blocks) for scored in self._run(block)]
        except RuntimeError as error:
            if not is_out_of_memory(error):
                raise
        raise UserError(
            f"Flamingo: a single window of {self.scoring.window_tokens} tokens does not fit the memory of "
            f"{self.model.device}; set window_tokens lower, or use a device with more"
        )

    def _prepared(self, blocks: Sequence[Sequence[Document]]) -> Iterator[_Block]:
        """Each block, while the next one is being prepared."""
        with ThreadPoolExecutor(self.scoring.decoding_threads) as decoders:
            yield from one_ahead(lambda block: self._prepare(block, decoders), blocks)

    def _prepare(self, documents: Sequence[Document], decoders: ThreadPoolExecutor) -> _Block:
        """Lay documents out, and read and decode their images, each once."""
        images = [document.images()[: self.scoring.max_images] for document in documents]
        seen = see(chain(*images), self.images, partial(picture, side=self.model.image_side), decoders)
        layouts = [
            lay_out(
                pieces(document.nodes, map(seen.number, of_one)),
                self.model.encoder(),
                self.model.marks,
                self.model.literals,
            )
            for document, of_one in zip(documents, images, strict=True)
        ]
        return _Block(layouts, seen.pictures)

    def _run(self, block: _Block) -> list[Scored]:
        """Encode each image of a block once, and score its documents."""
        size, pictures = self.scoring.batch_images, block.pictures
        latents = encode_images(self.model, [pictures[i : i + size] for i in range(0, len(pictures), size)])
        seen = self._losses(block.layouts, latents)
        without: dict[int, Losses] = {}
        if latents is not None and self.scoring.image_gain:
            with_images = [i for i, layout in enumerate(block.layouts) if layout.images]
            blank = latents.new_zeros(()).expand_as(latents)  # to an image of zeros, attention gives zero
            without = dict(zip(with_images, self._losses([block.layouts[i] for i in with_images], blank), strict=True))
        return [
            Scored(layout.targets(), losses, without.get(i), layout.n_bytes, len(layout.images))
            for i, (layout, losses) in enumerate(zip(block.layouts, seen, strict=True))
        ]

    def _losses(self, layouts: Sequence[Layout], latents: Any) -> list[Losses]:
        """The losses of each document, put together from those of its windows."""
        scoring, model = self.scoring, self.model
        cut = [windows(layout, model.marks, scoring.window_tokens, scoring.overlap) for layout in layouts]
        left = iter(token_losses(model, list(chain(*cut)), latents, scoring.batch_tokens))
        return [np.concatenate([np.empty(0, np.float32), *islice(left, len(of_one))]) for of_one in cut]
