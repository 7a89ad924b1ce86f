"""A score by a rubric: the number that a model would answer, from the probabilities of the answers. No text is made."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from obelics_pipeline.core.document import Document
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.device.memory import in_halves, is_out_of_memory
from obelics_pipeline.models.language_model.layout import Layout, Span
from obelics_pipeline.models.language_model.loading import load
from obelics_pipeline.models.language_model.model import Images, LanguageModel, hidden
from obelics_pipeline.models.language_model.packing import rows
from obelics_pipeline.models.language_model.preparation import Preparation
from obelics_pipeline.models.language_model.rubric import COLUMNS, DOCUMENT, Rubric
from obelics_pipeline.models.language_model.scorer import too_large
from obelics_pipeline.models.language_model.scoring import Scoring
from obelics_pipeline.models.language_model.windows import Window, outside_images
from obelics_pipeline.models.pictures.sources import ImageSource, no_images

ROW = 32  # documents of a row at most: of each, the logits of one token are made


@dataclass(frozen=True, slots=True)
class LoadJudge:
    """Makes a `Judge` in a worker; see `loading.LoadLanguageModel`, whose fields these are."""

    model: str
    rubric: Rubric
    images: ImageSource = no_images
    scoring: Scoring = field(default_factory=Scoring)
    device: str = "auto"
    dtype: str = "auto"
    trust_remote_code: bool = False

    def __call__(self) -> Judge:
        """Load the model. Raises `UserError` as `loading.load` does, and for answers that are no tokens of it."""
        model = load(self.model, self.device, self.dtype, self.trust_remote_code)
        return Judge(model, self.rubric, self.images, self.scoring)


@dataclass
class Judge:
    """A `DocumentScorer`: `rubric.COLUMNS` for each document.

    * `judge_score`: the expected number of the answer; None for a document that has neither text nor an image.
    * `judge_mass`: which share of all probability the answers have. Where it is low, the model would say something
      else, and the score means little.

    The prompt is put into the tokenizer's chat template where it has one. A document that is longer than
    `Scoring.window_tokens` leaves room for is judged by its beginning. A page may speak to the judge: the score is for
    sampling and for looking at, and no guard.
    """

    model: LanguageModel
    rubric: Rubric
    images: ImageSource = no_images
    scoring: Scoring = field(default_factory=Scoring)

    def __post_init__(self) -> None:
        """Raises `UserError` for answers that are no tokens of the model, and a prompt that fills its windows."""
        self.scoring = self.scoring.within([self.model.positions])
        self._preparation = Preparation(self.model, self.images, self.scoring)
        self._answers = answer_tokens(self.model.tokenizer, [word for word, _ in self.rubric.answers])
        self._before, self._after = prompt_tokens(self.model, self.rubric)
        self._room = self.scoring.window_tokens - len(self._before) - len(self._after) - 1
        if self._room < 1:
            raise UserError(
                f"judge: the prompt has {len(self._before) + len(self._after)} tokens, and leaves a document no room "
                f"in windows of {self.scoring.window_tokens}; shorten it, or set window_tokens higher"
            )

    def score(self, documents: Sequence[Document]) -> list[dict[str, float | None]]:
        """The columns of each document, in their order.

        Raises `UserError` where the device cannot hold one window by itself.
        """
        try:
            blocks = self._preparation.blocks(documents)
            return [one for block, images in blocks for one in self._judged(block.layouts, images)]
        except RuntimeError as error:
            if not is_out_of_memory(error):
                raise
        raise UserError(too_large(self.model, self.scoring))

    def _judged(self, layouts: Sequence[Layout], images: Images) -> Iterator[dict[str, float | None]]:
        import torch

        asked = [self._asked(layout) if layout.n_bytes or layout.images else None for layout in layouts]
        windows = [window for window in asked if window is not None]
        found: list[Any] = [None] * len(windows)
        with torch.inference_mode():
            for row in rows(
                [len(window.ids) for window in windows], self.scoring.batch_tokens if self.model.packs else 0
            ):
                for start in range(0, len(row), ROW):
                    part = row[start : start + ROW]
                    of_part = in_halves(lambda some: self._shares([windows[i] for i in some], images), part)
                    for i, shares in zip(part, of_part, strict=True):
                        found[i] = shares
            flat = torch.stack(found).cpu().double().numpy() if found else np.empty((0, len(self._answers)))
        left = iter(flat)
        for window in asked:
            yield dict.fromkeys(COLUMNS) if window is None else self._columns(next(left))

    def _asked(self, layout: Layout) -> Window:
        """The prompt with a document in it, and behind it the place of the answer."""
        begin = self.model.marks.begin
        skip = int(begin is not None and bool(len(layout.ids)) and layout.ids[0] == begin)
        stop = outside_images(layout, min(len(layout.ids), skip + self._room))
        shift = len(self._before) - skip
        ids = np.concatenate([self._before, layout.ids[skip:stop], self._after, [self._answers[0][0]]])
        scored = np.zeros(len(ids), np.bool_)
        scored[-1] = True
        spans = tuple(
            Span(span.start + shift, span.stop + shift, span.image) for span in layout.images if span.stop <= stop
        )
        return Window(ids, scored, spans)

    def _shares(self, row: Sequence[Window], images: Images) -> Sequence[Any]:
        """Of each window, the probabilities of the answers."""
        import torch

        p = self.model.head.logits(hidden(self.model, row, images)).softmax(-1)
        return list(torch.stack([p[:, list(tokens)].sum(-1) for tokens in self._answers], dim=-1))

    def _columns(self, shares: npt.NDArray[np.float64]) -> dict[str, float | None]:
        mass = float(shares.sum())
        numbers = [number for _, number in self.rubric.answers]
        score = float(shares @ numbers) / mass if mass > 0 else math.nan
        return dict(zip(COLUMNS, (score, mass), strict=True))


def answer_tokens(tokenizer: Any, words: Sequence[str]) -> list[tuple[int, ...]]:
    """Of each word the tokens that read as it, white space around it aside: "4" and " 4" are one answer.

    Raises `UserError` for a word that is no token.
    """
    found: dict[str, list[int]] = {word: [] for word in words}
    for i in range(len(tokenizer)):
        read = tokenizer.decode([i]).strip()
        if read in found:
            found[read].append(i)
    for word, tokens in found.items():
        if not tokens:
            raise UserError(f"judge: the answer {word} is no single token of the model; use digits or short words")
    return [tuple(tokens) for tokens in found.values()]


def prompt_tokens(model: LanguageModel, rubric: Rubric) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """What stands before a document and behind it."""
    text = rubric.prompt
    begin: list[int] = []
    if getattr(model.tokenizer, "chat_template", None):
        content: Any = [{"type": "text", "text": text}] if model.vision is not None else text
        message = [{"role": "user", "content": content}]
        text = model.tokenizer.apply_chat_template(message, tokenize=False, add_generation_prompt=True)
    elif model.marks.begin is not None:
        begin = [model.marks.begin]
    before, _, after = text.partition(DOCUMENT)
    encode = model.encoder()
    return np.array([*begin, *encode(before)], np.int64), np.array(encode(after), np.int64)
