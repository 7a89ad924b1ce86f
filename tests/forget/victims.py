"""Documents of a finished run that tests forget, and all that must not be found of each then."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq

from obelics_pipeline.core.document import Document, ImageNode, TextNode
from obelics_pipeline.core.tables import read_documents
from obelics_pipeline.stages.fetch.result import FetchResult, results_from_table
from obelics_pipeline.stages.fetch.run_images import RunImages


@dataclass(frozen=True)
class Victim:
    """`needles`: its address, id, sentences, and addresses, hashes and bytes of images, as far as only it has them."""

    doc_id: str
    url: str
    shard: str
    needles: tuple[str | bytes, ...]
    image: ImageNode


def documents(run: Path, stage: str) -> list[Document]:
    return [document for path in sorted((run / stage).glob("*.parquet")) for document in read_documents(path)]


def victims(run: Path, wanted: int = 3) -> list[Victim]:
    """Some documents of the shards with two images or more that only they have."""
    extracted = documents(run, "extract")
    uses = Counter(x for d in extracted for x in _marks(d))
    found = []
    assembled = {d.doc_id: d for d in documents(run, "assembled")}
    for row in pq.read_table(run / "index.parquet").to_pylist():
        images = assembled[row["doc_id"]].images()
        if len(images) >= 2 and all(uses[i.src] == 1 for i in images):
            found.append(victim(run, row["doc_id"], [row["doc_id"]]))
    return found[:: max(len(found) // wanted, 1)][:wanted]


def victim(run: Path, doc_id: str, together: list[str]) -> Victim:
    """A document that is forgotten, alone or together with others."""
    extracted = {d.doc_id: d for d in documents(run, "extract")}
    assembled = {d.doc_id: d for d in documents(run, "assembled")}
    document = assembled.get(doc_id, extracted[doc_id])
    others = {x for d in [*extracted.values(), *assembled.values()] if d.doc_id not in together for x in _marks(d)}
    needles: list[str | bytes] = [document.url, doc_id]
    stored, images = stored_images(run), RunImages(run / "images")
    for mark in [*_marks(extracted[doc_id]), *_marks(document)]:
        if mark not in others:
            needles.append(mark[:90])
            if len(mark) == 64 and mark in stored:
                data = images.read(stored[mark])
                needles.append(data[len(data) // 2 : len(data) // 2 + 80])
    rows = pq.read_table(run / "index.parquet", filters=[("doc_id", "==", doc_id)]).to_pylist()
    images = document.images()
    return Victim(doc_id, document.url, rows[0]["shard"] if rows else "", tuple(needles), images[0])


def stored_images(run: Path) -> dict[str, FetchResult]:
    """What fetch units say of the images that they stored, by sha256."""
    tables = [pq.read_table(path) for path in sorted((run / "fetch").glob("bucket-*.parquet"))]
    return {r.sha256: r for table in tables for r in results_from_table(table) if r.sha256 is not None}


def _marks(document: Document) -> list[str]:
    """Its sentences, and the addresses and hashes of its images."""
    texts = [n.text for n in document.nodes if isinstance(n, TextNode) and len(n.text) > 60]
    images = [n for n in document.nodes if isinstance(n, ImageNode)]
    return [*texts, *(i.src for i in images if i.src), *(i.sha256 for i in images if i.sha256)]
