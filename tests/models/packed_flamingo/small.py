"""Small Flamingos with open gates, and batches of made-up documents for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch

from obelics_pipeline.models.packed_flamingo.batch import PackedBatch
from obelics_pipeline.models.packed_flamingo.builder import build
from obelics_pipeline.models.packed_flamingo.document_tokens import (
    DocumentTokens,
    Vocabulary,
    document_tokens,
    span_tokens,
)
from obelics_pipeline.models.packed_flamingo.model import PackedFlamingo
from obelics_pipeline.models.packed_flamingo.settings import FlamingoSettings
from obelics_pipeline.models.packed_flamingo.tiny import Kind, tiny_language_model, tiny_vision

TEXTS = (
    "The ferry returns to the harbour when the tide is high, and the market hall opens its doors.",
    "A loaf of rye is not a loaf of wheat; it wants a long rest and a hot stone.",
    "She wound the clock on the bench, listened for a while, and wrote down what she heard.",
)
SIDE, WORDS = 32, 320


@dataclass(frozen=True)
class Whole:
    """A document as its only span."""

    token_start: int
    token_stop: int
    image_start: int = 0
    image_stop: int = 99
    carried: bool = False


@cache
def parts(kind: Kind = "llama") -> tuple[str, str]:
    """Folders of a language model of two blocks and a vision tower."""
    folder = Path(mkdtemp())
    language_model = tiny_language_model(folder / kind, TEXTS, kind=kind, words=WORDS, width=32, layers=2, heads=2)
    return str(language_model), str(tiny_vision(folder / "vision", side=SIDE, patch=8, width=32, layers=2))


def settings(kind: Kind = "llama", **others: Any) -> FlamingoSettings:
    language_model, vision = parts(kind)
    small = {"latents": 4, "resampler_depth": 2, "heads": 2, "head_dim": 16, "init_std": 0.1}
    return FlamingoSettings.model_validate({"language_model": language_model, "vision": vision, **small, **others})


def flamingo(kind: Kind = "llama", gates: float = 0.7, **others: Any) -> PackedFlamingo:
    """With closed gates, images would change nothing."""
    model = build(settings(kind, **others))
    open_gates(model, gates)
    with torch.no_grad():
        for p in model.language_model.parameters():
            if p.ndim > 1:
                p.mul_(3)  # the losses of two texts should differ by more than rounding
    return model.eval()


def open_gates(model: PackedFlamingo, gates: float) -> None:
    with torch.no_grad():
        for name, p in model.named_parameters():
            if name.endswith("gate.weight"):
                p.fill_(gates)


def record(*nodes: str | int) -> dict[str, Any]:
    """Texts, and images by a number."""
    return {
        "texts": [node if isinstance(node, str) else None for node in nodes],
        "files": [f"{node:03d}.png" if isinstance(node, int) else None for node in nodes],
    }


def laid_out(vocabulary: Vocabulary, *nodes: str | int) -> DocumentTokens:
    return document_tokens(record(*nodes), vocabulary)


def picture(number: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(number).integers(0, 256, (3, SIDE, SIDE), dtype=np.uint8)


Document = Sequence[str | int]


def batch(vocabulary: Vocabulary, rows: Sequence[Sequence[Document]], tokens: int = 0) -> PackedBatch:
    """Rows of documents, a document being its texts and the numbers of its pictures."""
    laid = [[laid_out(vocabulary, *document) for document in row] for row in rows]
    numbers = [[node for document in row for node in document if isinstance(node, int)] for row in rows]
    length = max(tokens, *(sum(len(one.ids) for one in row) for row in laid))
    images = max(1, *map(len, numbers))
    count = sum(map(len, numbers))
    shape = (len(rows), length)
    ids = np.full(shape, vocabulary.pad)
    position, segment, image_of, span = (np.full(shape, -1) for _ in range(4))
    target = np.zeros(shape, bool)
    picture_of = np.full((len(rows), images), -1)
    seen = spans = 0
    for r, row in enumerate(laid):
        at = before = 0
        for s, one in enumerate(row):
            i, t, of = span_tokens(one, Whole(0, len(one.ids)), vocabulary)
            cut = slice(at, at + len(i))
            ids[r, cut], target[r, cut], segment[r, cut], span[r, cut] = i, t, s, spans
            position[r, cut] = np.arange(len(i))
            image_of[r, cut] = np.where(of < 0, -1, of + before)
            at, before, spans = at + len(i), before + one.n_images, spans + 1
        position[r, at:] = np.arange(length - at)
        picture_of[r, : len(numbers[r])] = np.arange(seen, seen + len(numbers[r]))
        seen += len(numbers[r])
    pictures = (
        np.stack([picture(n) for row in numbers for n in row]) if count else np.zeros((0, 3, SIDE, SIDE), np.uint8)
    )
    return PackedBatch(
        ids=torch.from_numpy(ids),
        position=torch.from_numpy(position),
        segment=torch.from_numpy(segment).int(),
        image_of=torch.from_numpy(image_of).int(),
        target=torch.from_numpy(target),
        span=torch.from_numpy(span).int(),
        dataset=torch.arange(len(rows), dtype=torch.int32),
        pictures=torch.from_numpy(pictures),
        picture_of=torch.from_numpy(picture_of).int(),
        n_spans=spans,
    )
