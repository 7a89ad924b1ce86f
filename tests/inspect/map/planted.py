"""Texts of planted topics, and a run's folder that has them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from obelics_pipeline.core.commit import Attempt
from obelics_pipeline.core.document import Document, TextNode, make_doc_id
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.tables import DocumentWriter
from obelics_pipeline.core.unit import Unit

SCORE = "word_count"
SYLLABLES = "ba do ki lu me na po ru si ta ve zo".split()


def word(number: int) -> str:
    """A word of its own for each number below 12^4."""
    return "".join(SYLLABLES[number // 12**place % 12] for place in range(4))


def topic_text(topic: int, seed: int, words: int = 60) -> str:
    """Two thirds of words that every topic has, one third of forty that this one has alone."""
    rng = random.Random(topic * 100_003 + seed)
    common, own = range(300), range(1000 + 40 * topic, 1040 + 40 * topic)
    return " ".join(word(rng.choice(own if rng.random() < 1 / 3 else common)) for _ in range(words))


def made_document(number: int, text: str, score: float | None = 0.0, reason: str | None = None) -> Document:
    """A document of one paragraph."""
    host = f"site{number % 7}.example"
    nodes = [TextNode(text)] if text else []
    doc_id = make_doc_id("a.warc", number)
    return Document(doc_id, f"http://{host}/{number}", "a.warc", number, 1, nodes, {}, "en", {SCORE: score}, reason)


def run_folder(path: Path, files: Sequence[Sequence[Document]]) -> RunFolder:
    """The folder of a run that has extracted these documents, a unit for each file of them."""
    folder = RunFolder(path)
    for number, documents in enumerate(files):
        with Attempt(folder.extract, Unit("extract", f"{number:016x}", "a")) as attempt:
            with DocumentWriter(attempt.file("data", ".parquet"), [SCORE], []) as writer:
                for document in documents:
                    writer.write(document)
            attempt.commit([Ledger("documents")])
    return folder


def pa_ids(letters: str) -> pa.Array:
    """A column of ids."""
    return pa.array(list(letters), pa.string())
