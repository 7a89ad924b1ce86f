"""A made-up finished run, small parts, and a plan: what a training of a few thousand steps needs, in seconds."""

from __future__ import annotations

import functools
import hashlib
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.document import Document, ImageNode, Node, TextNode, make_doc_id
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.shards.index import IndexWriter, index_row
from obelics_pipeline.core.shards.manifest import (
    RunManifest,
    index_part,
    promises_of,
    shard_entry,
    shard_name,
    write_manifest,
)
from obelics_pipeline.core.shards.record import make_record
from obelics_pipeline.core.shards.tar import ShardWriter
from obelics_pipeline.models.packed_flamingo.tiny import tiny
from obelics_pipeline.training.plan.command import make_plan
from obelics_pipeline.training.plan.recipe import Recipe

SETS = {"web": 12, "wiki": 4}
"""Data sets, and how many words may follow a word in them: their losses end at different levels."""
WORDS = 240
TOKENS, ROWS = 64, 4
"""Tokens of a row, rows of a step."""
SIDE = 16
PER_SHARD = 500


def make_corpus(folder: Path, documents: int, seed: int, sets: Mapping[str, int] = SETS) -> None:
    """Write runs, parts and plan below a folder; nothing where they are there already."""
    if (folder / "plan" / "plan.json").exists():
        return
    draw = np.random.default_rng(seed)
    words = ["".join(draw.choice(list("abcdefghijklmnopqrstuvwxyz"), int(draw.integers(2, 7)))) for _ in range(WORDS)]
    made = {name: _documents(words, name, sets[name], documents // len(sets), draw) for name in sets}
    for name, pages in made.items():
        _write_run(folder / name, pages)
    texts = [
        node.text
        for pages in made.values()
        for page in pages[:500]
        for node in page.nodes
        if isinstance(node, TextNode)
    ]
    language_model, _ = tiny(folder / "parts", texts, words=300, width=32, layers=2, side=SIDE, seed=seed)
    recipe = {
        "datasets": {name: {"runs": [str(folder / name)], "repeat": 4} for name in sets},
        "language_model": str(language_model),
        "sequence_tokens": TOKENS,
        "images_per_row": 2,
        "batch_tokens": TOKENS * ROWS,
        "held_out": 0.02,
        "allow_equal_content": True,
        "seed": seed,
    }
    make_plan(Recipe.model_validate(recipe), folder / "plan")


def _documents(
    words: Sequence[str], name: str, following: int, count: int, draw: np.random.Generator
) -> list[Document]:
    """Texts in which each word is one of so many that may follow the one before: there is something to learn."""
    follow = draw.integers(0, len(words), (len(words), following))
    found = []
    for number in range(count):
        noise = 0.5 if draw.random() < 0.08 else 0.03  # some pages are much noisier than others
        at, text = int(draw.integers(len(words))), []
        for _ in range(int(np.clip(draw.lognormal(3.2, 0.6), 8, 120))):
            wild = draw.random() < noise
            at = int(draw.integers(len(words))) if wild else int(draw.choice(follow[at]))
            text.append(words[at])
        nodes: list[Node] = [TextNode(" ".join(text))]
        if draw.random() < 0.2:
            nodes.insert(0, _image(int(draw.integers(16))))
        found.append(
            Document(
                doc_id=make_doc_id(f"{name}.warc.gz", number),
                url=f"http://{name}.example/{number}",
                warc_filename=f"{name}.warc.gz",
                warc_record_offset=number,
                warc_record_length=100,
                nodes=nodes,
                language="en",
                scores={},
            )
        )
    return found


@functools.lru_cache(maxsize=16)
def _picture(number: int) -> bytes:
    from PIL import Image

    out = io.BytesIO()
    Image.new("RGB", (SIDE, SIDE), (16 * number, 255 - 16 * number, 90)).save(out, "PNG")
    return out.getvalue()


def _image(number: int) -> ImageNode:
    data = _picture(number)
    src = f"http://pictures.example/{number}.png"
    about = {"original_width": SIDE, "original_height": SIDE, "format": "png", "n_bytes": len(data)}
    return ImageNode(src, src, sha256=hashlib.sha256(data).hexdigest(), **about)  # type: ignore[arg-type]


def _read_image(sha256: str) -> bytes:
    return next(d for d in map(_picture, range(16)) if hashlib.sha256(d).hexdigest() == sha256)


def _write_run(folder: Path, pages: Sequence[Document]) -> None:
    entries, images = [], Ledger("images")
    (folder / "shards").mkdir(parents=True)
    with IndexWriter(folder / "index.parquet", ()) as index:
        for start in range(0, len(pages), PER_SHARD):
            path = folder / "shards" / shard_name(start // PER_SHARD)
            rows = []
            with ShardWriter(path) as tar:
                for page in pages[start : start + PER_SHARD]:
                    record = make_record(page, ())
                    rows.append(index_row(path.name, tar.add(record, _read_image), page, record, ()))
                    index.write(rows[-1])
                    images.keep(record.n_images)
            entries.append(shard_entry(path, rows))
    kept, path = Ledger("documents"), folder / "index.parquet"
    kept.keep(len(pages))
    ledgers = {"documents": kept, "images": images}
    promises = promises_of(RunConfig(), ())
    write_manifest(folder, RunManifest(tuple(entries), (index_part(path, len(entries)),), promises, ledgers, {}))
