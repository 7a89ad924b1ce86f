"""The same beginnings of held-out documents at every evaluation, and how the model goes on: one file per checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from obelics_pipeline.models.packed_flamingo.model import PackedFlamingo
from obelics_pipeline.models.pictures.pixels import Picture, picture
from obelics_pipeline.training.experiments.evaluate.rows import batch_of, computing, row_of
from obelics_pipeline.training.plan.plan_file import Plan
from obelics_pipeline.training.train.stored_rows import read_document

BEGINNING = 32  # tokens of a document that are given, of which half at most stand behind the first image
Decode = Callable[[Sequence[int]], str]


@dataclass(frozen=True, eq=False)
class Prompt:
    """The beginning of a document, and its next tokens."""

    doc_id: str
    ids: tuple[int, ...]
    pictures: tuple[Picture, ...]
    goes_on: tuple[int, ...]


def prompts(plan: Plan, model: PackedFlamingo, count: int, tokens: int) -> list[Prompt]:
    """Of the first `count` held-out documents of a plan whose images can all be decoded."""
    found: list[Prompt] = []
    for number in _held_out(plan):
        if len(found) == count:
            break
        document = plan.document(number)
        laid, files = read_document(document, model.vocabulary)
        at = min(BEGINNING, max(2, len(laid.ids) // 2))
        if laid.n_images:  # at least one image is seen, and something is left to go on with
            first = int((laid.image_of >= 0).argmax())
            at = min(max(at, first + 1 + BEGINNING // 4), len(laid.ids) - 1)
        ids = laid.ids[:at].tolist()
        seen = [picture(content, model.vision.side) for content in files[: ids.count(model.vocabulary.image)]]
        if all(one is not None for one in seen):
            rest = tuple(laid.ids[at : at + tokens].tolist())
            found.append(Prompt(document.doc_id, tuple(ids), tuple(one for one in seen if one is not None), rest))
    return found


def _held_out(plan: Plan) -> Iterator[int]:
    seen: set[int] = set()
    for row in range(plan.held_out.n_rows if plan.held_out else 0):
        assert plan.held_out is not None
        for span in plan.held_out.row(row).spans:
            if span.document not in seen:
                seen.add(span.document)
                yield span.document


def generate(
    model: PackedFlamingo, given: Sequence[Prompt], tokens: int, precision: str = "float32"
) -> list[tuple[int, ...]]:
    """The likeliest next tokens of each prompt, one after another, up to the end of its document.

    Whole rows are computed again for each token: few tokens are asked for, and the code that trains is the code that
    is evaluated. Images, padding and the beginning of a document are never chosen.
    """
    vocabulary = model.vocabulary
    device = next(model.parameters()).device
    never = torch.tensor([vocabulary.image, vocabulary.pad, vocabulary.begin], device=device)
    if vocabulary.begin == vocabulary.end:
        never = never[:2]
    out: list[list[int]] = [[] for _ in given]
    for _ in range(tokens):
        going = [i for i, made in enumerate(out) if not made or made[-1] != vocabulary.end]
        if not going:
            break
        rows = []
        for i in going:
            ids = [*given[i].ids, *out[i]]
            rows.append(row_of(ids, [False] * len(ids), vocabulary, given[i].pictures))
        batch = batch_of(rows, model).packed.to(device)
        last = torch.tensor([len(row.spans[0].ids) - 1 for row in rows], device=device)
        with torch.no_grad(), computing(precision, device):
            logits = model.logits(batch)[torch.arange(len(rows), device=device), last].float()
        logits[:, never] = -torch.inf
        for i, chosen in zip(going, logits.argmax(-1).tolist(), strict=True):
            out[i].append(chosen)
    return [tuple(made) for made in out]


def decoder(language_model: Path, model: PackedFlamingo) -> Decode:
    """Tokens as text, the added marks by their names."""
    from transformers import AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(language_model, local_files_only=True, trust_remote_code=False)
    vocabulary = model.vocabulary

    def decode(ids: Sequence[int]) -> str:
        parts: list[str] = []
        words: list[int] = []
        for i in [*ids, -1]:
            if 0 <= i < vocabulary.words:
                words.append(i)
                continue
            parts.append(str(tokenizer.decode(words)) if words else "")
            words = []
            if i >= 0:
                parts.append(vocabulary.added[i - vocabulary.words])
        return "".join(parts)

    return decode
