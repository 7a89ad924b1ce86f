"""Small finished runs for tests: documents with drawn pictures, written as a run writes them."""

from __future__ import annotations

import functools
import hashlib
import io
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.document import Document, ImageNode, Node, TextNode, make_doc_id
from obelics_pipeline.core.index_name import part_name
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.shards.index import IndexWriter, index_row
from obelics_pipeline.core.shards.manifest import (
    RunManifest,
    index_part,
    promises_of,
    read_manifest,
    shard_entry,
    shard_name,
    write_manifest,
)
from obelics_pipeline.core.shards.record import make_record
from obelics_pipeline.core.shards.tar import ShardWriter
from obelics_pipeline.models.page_type import KINDS

SCORES = ("word_count", "perplexity")
SIZES = {"jpeg": (200, 160), "png": (160, 200), "webp": (180, 170)}


@functools.lru_cache(maxsize=64)
def picture(format_: str, number: int = 0) -> bytes:
    """An image of this format; each number gives another one."""
    from PIL import Image

    out = io.BytesIO()
    colour = (number % 256, 120, 90)
    Image.new("RGB", SIZES[format_], colour).save(out, format_.upper())
    return out.getvalue()


def image(number: int, format_: str = "jpeg", **values: object) -> ImageNode:
    """A fetched image node."""
    data = picture(format_, number)
    width, height = SIZES[format_]
    facts = {
        "original_width": width,
        "original_height": height,
        "format": format_,
        "sha256": hashlib.sha256(data).hexdigest(),
        "n_bytes": len(data),
    }
    src = f"http://pictures.example/{number}.{format_}"
    return ImageNode(src, src, **(facts | values))  # type: ignore[arg-type]


def read_image(sha256: str) -> bytes:
    """The image store of `image`."""
    for format_ in SIZES:
        for number in range(16):
            if hashlib.sha256(data := picture(format_, number)).hexdigest() == sha256:
                return data
    raise KeyError(sha256)


def document(number: int, nodes: list[Node] | None = None) -> Document:
    """A kept document; by default one whose nodes follow from its number."""
    return Document(
        doc_id=make_doc_id("a.warc.gz", number),
        url=f"http://pages.example/{number}",
        warc_filename="a.warc.gz",
        warc_record_offset=number,
        warc_record_length=100,
        nodes=drawn_nodes(number) if nodes is None else nodes,
        general={"title": f"Page {number} – ünïcode"} | ({"page_type": KINDS[number % 7]} if number % 4 else {}),
        language="en" if number % 3 else None,
        scores={"word_count": float(number), "perplexity": None if number % 2 else 0.1 + number},
    )


def drawn_nodes(number: int) -> list[Node]:
    """Texts and distinct images in an order that follows from the number."""
    chance = random.Random(number)
    images: list[Node] = [image(i, chance.choice(list(SIZES))) for i in chance.sample(range(16), chance.randint(1, 5))]
    texts: list[Node] = [TextNode(f"Paragraph {i} of page {number}.") for i in range(chance.randint(1, 5))]
    nodes = images + texts
    chance.shuffle(nodes)
    return nodes


def without_page_type(folder: Path) -> None:
    """Make the index of a finished run one of a version that did not have the column; the manifest vouches for it."""
    index, manifest = folder / "index.parquet", read_manifest(folder)
    pq.write_table(pq.read_table(index).drop_columns(["page_type"]), index, compression="zstd")
    write_manifest(folder, replace(manifest, index=(index_part(index, len(manifest.shards)),)))


def make_run(
    folder: Path,
    documents: Sequence[Document],
    per_shard: int = 4,
    config: RunConfig | None = None,
    scores: Sequence[str] = SCORES,
    read: Callable[[str], bytes] = read_image,
) -> RunManifest:
    """Write a finished run of these documents, `per_shard` to a tar, and return its manifest."""
    entries = []
    images = Ledger("images")
    (folder / "shards").mkdir(parents=True)
    with IndexWriter(folder / "index.parquet", scores) as index:
        for start in range(0, len(documents), per_shard):
            path = folder / "shards" / shard_name(start // per_shard)
            rows = []
            with ShardWriter(path) as tar:
                for item in documents[start : start + per_shard]:
                    record = make_record(item, scores)
                    rows.append(index_row(path.name, tar.add(record, read), item, record, scores))
                    index.write(rows[-1])
                    images.keep(record.n_images)
            entries.append(shard_entry(path, rows))
    kept = Ledger("documents")
    kept.keep(len(documents))
    kept.drop("perplexity", 3)
    index_path = folder / "index.parquet"
    manifest = RunManifest(
        tuple(entries),
        (index_part(index_path, len(entries)),),
        promises_of(config or RunConfig(), scores),
        {"documents": kept, "images": images},
        {},
    )
    write_manifest(folder, manifest)
    return manifest


def cut_index(folder: Path, *tars: int) -> None:
    """Let the index of a run lie in parts with the rows of so many tars each."""
    manifest, rows = read_manifest(folder), pq.read_table(folder / "index.parquet")
    parts, start = [], 0
    for number, count in enumerate(tars):
        first = sum(tars[:number])
        n = sum(tar.documents for tar in manifest.shards[first : first + count])
        path = folder / part_name(number)
        with IndexWriter(path, manifest.promises.score_names) as index:
            for row in rows.slice(start, n).to_pylist():
                index.write(row)
        parts.append(index_part(path, count))
        start += n
    write_manifest(folder, replace(manifest, index=tuple(parts)))
    (folder / "index.parquet").unlink()
