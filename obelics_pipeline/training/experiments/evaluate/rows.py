"""Prompts as rows of a batch, and what a model makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

import numpy as np
import torch

from obelics_pipeline.core.document import PARAGRAPH_SEPARATOR
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.flamingo.layout import Marks, lay_out
from obelics_pipeline.models.packed_flamingo.document_tokens import Vocabulary
from obelics_pipeline.models.packed_flamingo.model import PackedFlamingo, target_losses
from obelics_pipeline.models.pictures.pixels import Picture, picture
from obelics_pipeline.training.experiments.evaluate.task import ANSWER, QUESTION, Example, Task
from obelics_pipeline.training.train.collate import MicroBatch, collate
from obelics_pipeline.training.train.stored_rows import ReadRow, ReadSpan


def row_of(ids: Sequence[int], targets: Sequence[bool], vocabulary: Vocabulary, pictures: Sequence[Picture]) -> ReadRow:
    """A row of one span. Each `<image>` mark of `ids` stands for the next of the pictures."""
    array = np.array(ids, np.int64)
    image_of = (np.cumsum(array == vocabulary.image) - 1).astype(np.int32)
    return ReadRow(0, 0, 0, (ReadSpan(0, 0, array, np.array(targets, np.bool_), image_of),), tuple(pictures))


def batch_of(rows: Sequence[ReadRow], model: PackedFlamingo) -> MicroBatch:
    """Rows side by side, filled up to the longest."""
    longest = max(len(span.ids) for row in rows for span in row.spans)
    return collate(rows, longest, model.vision.side, model.vocabulary.pad)


def question_row(
    task: Task, example: Example, choice: str, shots: int, template: str, vocabulary: Vocabulary, side: int
) -> ReadRow:
    """Some answered examples, a question, and one of its choices, whose tokens alone are targets.

    Laid out as a document is in training: `<image>text<|endofchunk|><image>text …`. Raises UserError for an image that
    cannot be decoded.
    """
    texts = [_filled(template, one.question, one.choices[one.answer]) for one in task.shots(example, shots)]
    texts.append(_filled(template, example.question, "").rstrip())
    parts: list[str | int] = []
    pictures: list[Picture] = []
    for one, text in zip([*task.shots(example, shots), example], texts, strict=True):
        content = task.image(one)
        if content is not None:
            seen = picture(content, side)
            if seen is None:
                raise UserError(f"{task.folder / str(one.image)}: no image that can be decoded; take the example out")
            parts.append(len(pictures))
            pictures.append(seen)
        elif parts:  # texts with no image between them stand in one piece
            text = f"{parts.pop()}{PARAGRAPH_SEPARATOR}{text}" if isinstance(parts[-1], str) else text
        parts.append(text)
    marks = Marks(vocabulary.begin, vocabulary.image, vocabulary.end_of_chunk)
    laid = lay_out(parts, vocabulary.encode, marks, vocabulary.literals).ids.tolist()
    before = laid[:-1] if pictures else laid  # without the end of the last chunk, which is after the answer
    closing = vocabulary.end_of_chunk if pictures else vocabulary.end
    answer = [*vocabulary.encode(f" {choice.strip()}"), closing]
    return row_of([*before, *answer], [False] * len(before) + [True] * len(answer), vocabulary, pictures)


def _filled(template: str, question: str, answer: str) -> str:
    return template.replace(QUESTION, question).replace(ANSWER, answer).strip()


def losses_of(rows: Sequence[ReadRow], model: PackedFlamingo, at_once: int, precision: str) -> list[float]:
    """Of each row, nats of its targets together: minus the logarithm of their likelihood."""
    device = next(model.parameters()).device
    found: list[float] = []
    for start in range(0, len(rows), at_once):
        batch = batch_of(rows[start : start + at_once], model).packed.to(device)
        with torch.no_grad(), computing(precision, device):
            losses = target_losses(model, batch, with_el2n=False)
        sums = torch.zeros(batch.n_spans, dtype=torch.float64, device=device)
        found += sums.index_add_(0, losses.span, losses.nll.double()).tolist()
    return found


def computing(precision: str, device: torch.device) -> AbstractContextManager[object]:
    """Where matrix products have a precision, as torch names it."""
    if precision == "float32":
        return nullcontext()
    return torch.autocast(device.type, getattr(torch, precision))  # type: ignore[no-any-return]
