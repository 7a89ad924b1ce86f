"""Documents made up for plans: as tables of lengths, and as finished runs with a tokenizer that needs no library."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import yaml

from obelics_pipeline.core.document import Document, Node, TextNode
from obelics_pipeline.models.packed_flamingo.document_tokens import Vocabulary
from obelics_pipeline.training.plan.documents import FIXED, Documents
from obelics_pipeline.training.plan.recipe import Recipe
from obelics_pipeline.training.plan.spans import Lengths
from obelics_pipeline.training.plan.tokenizer import Tokenizer, tokenizer_sha256
from tests.stages.shard.runs import document, image, make_run

WORDS = 1000


def encode(text: str) -> list[int]:
    """A token for each word."""
    return [10 + zlib.crc32(word.encode()) % (WORDS - 10) for word in text.split()]


VOCABULARY = Vocabulary(encode, 1, WORDS + 1, WORDS, 2, WORDS + 2, ("<image>",), WORDS, ("a", "b", "c"))


def lengths_of(shapes: Sequence[tuple[int, Sequence[int]]]) -> Lengths:
    """Lengths from (tokens, places of the marks)."""
    first = np.cumsum([0, *(len(marks) for _, marks in shapes)])
    marks = np.array([m for _, places in shapes for m in places], np.int32)
    return Lengths(np.array([n for n, _ in shapes], np.int64), first.astype(np.int64), marks)


def drawn(n: int, seed: int = 0, mean: float = 4.0) -> list[tuple[int, list[int]]]:
    """Shapes of documents with lengths like those of web pages, log-normal, and a few images."""
    chance = np.random.default_rng(seed)
    out = []
    for tokens in np.maximum(4, chance.lognormal(mean, 1.0, n).astype(int)).tolist():
        k = min(int(chance.poisson(2.5)), tokens // 4)
        out.append((tokens, sorted((chance.choice(tokens - 2, k, replace=False) + 1).tolist())))
    return out


def documents_from(*datasets: Sequence[tuple[int, Sequence[int]]], per_shard: int = 10) -> Documents:
    """Documents of these shapes, by data set; each has content of its own."""
    shapes = [shape for dataset in datasets for shape in dataset]
    n = len(shapes)
    number = np.repeat(np.arange(len(datasets)), [len(d) for d in datasets]).astype(np.int64)
    shards = pa.array([f"/tars/{d}-{i // per_shard}.tar" for i, d in enumerate(number.tolist())]).dictionary_encode()
    columns: dict[str, Any] = {name: pa.array([f"{name}-{i}" for i in range(n)]) for name in FIXED}
    columns |= {"shard": shards}
    columns |= {name: pa.array(range(n), pa.int64()) for name in FIXED if name.split("_")[-1] in ("offset", "length")}
    content = np.random.default_rng(5).integers(0, 2**63, (n, 2)).astype(np.uint64)
    return Documents(
        pa.table(columns), number, lengths_of(shapes), np.zeros(n, np.uint32), np.ones(n, np.int64), content,
        np.zeros(n, np.int64), [None],
    )  # fmt: skip


def recipe(datasets: dict[str, dict[str, Any]] | None = None, **values: Any) -> Recipe:
    """A recipe with small rows."""
    of = {name: {"runs": ["run"], **d} for name, d in (datasets or {"web": {}}).items()}
    small = {"sequence_tokens": 64, "images_per_row": 6, "batch_tokens": 512, "held_out": 0.0, "language_model": "lm"}
    return Recipe.model_validate({"datasets": of, **small, **values})


def page(number: int, words: int, images: int = 2) -> Document:
    """A document of so many words, its images spread among them."""
    chance = np.random.default_rng(number)
    parts = np.array_split(chance.integers(0, 500, words), images + 1)
    nodes: list[Node] = []
    for i, part in enumerate(parts):
        nodes += [image((number + i - 1) % 16)] if i else []
        nodes += [TextNode(" ".join(f"w{w}" for w in part))] if len(part) else []
    return document(number, nodes)


def made_run(folder: Path, numbers: Sequence[int], words: Sequence[int] = (5, 20, 50, 170)) -> Path:
    """A finished run of documents with these numbers."""
    make_run(folder, [page(n, words[n % len(words)], n % 4) for n in numbers])
    return folder


def fake_tokenizer(folder: Path) -> Tokenizer:
    """In place of `open_tokenizer`."""
    folder.mkdir(exist_ok=True)
    return Tokenizer(VOCABULARY, str(folder), tokenizer_sha256(folder, VOCABULARY))


def write_recipe(path: Path, datasets: dict[str, dict[str, Any]], **values: Any) -> str:
    """A recipe file beside a folder for the tokenizer."""
    small = {"sequence_tokens": 64, "images_per_row": 6, "batch_tokens": 512, "held_out": 0.1}
    path.write_text(
        yaml.safe_dump(
            {"datasets": datasets, "language_model": str(path.parent / "lm"), **small, **values}, sort_keys=False
        )
    )
    return str(path)
