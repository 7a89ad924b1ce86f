"""How fast `obelics tune` answers: a run's folder of many documents, and each question of the page asked of it.

    python benchmarks/tuning.py --documents 100000

Documents have 30 paragraphs and 4 images each, with scores drawn at random (a seed decides), so that nothing need be
extracted; what is asked, read and counted is what the page asks. Prints seconds to open, milliseconds for each
question (the median and the slowest of several), and the memory that is held then.
"""

from __future__ import annotations

import argparse
import random
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from obelics_pipeline.core.commit import Attempt
from obelics_pipeline.core.config import RunConfig, load_config
from obelics_pipeline.core.config.yaml_file import dump_config
from obelics_pipeline.core.document import Document, ImageNode, Node, TextNode
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.tables import DocumentWriter
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.inspect.tune.workbench import Workbench
from obelics_pipeline.stages.extract.measure import score_names

PER_UNIT, PARAGRAPHS, IMAGES, TIMES = 1000, 30, 4, 15
WORDS = ("the", "of", "a", "stone", "river", "walk", "price", "kiln", "engine", "letter", "north", "water", "paint")
SITES, LANGUAGES = 5000, ("en", "en", "en", "de", "fr", "zh")


def main() -> None:
    """Makes the folder and asks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=10_000, metavar="N")
    parser.add_argument("--folder", type=Path, help="made once and used again (default: a temporary one)")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = asked.folder or Path(scratch) / "run"
        if not folder.exists():
            make(folder, asked.documents)
        ask(folder)


def make(folder: Path, documents: int) -> None:
    """A run's folder that holds as many documents as were extracted."""
    config, dice = load_config("default", ["fetch.enabled=false"]), random.Random(1)
    run = RunFolder(folder)
    folder.mkdir(parents=True)
    run.config.write_text(dump_config(config))
    for start in range(0, documents, PER_UNIT):
        unit, records, ledger = Unit("extract", "0" * 16, f"made-{start:09d}"), Ledger("records"), Ledger("documents")
        with Attempt(run.extract, unit) as attempt:
            names = score_names(config), list(config.filters.paragraph)
            with DocumentWriter(attempt.file("data", ".parquet"), *names) as writer:
                for number in range(start, min(start + PER_UNIT, documents)):
                    document = made(number, config, dice)
                    records.keep()
                    ledger.keep() if document.reason is None else ledger.drop(document.reason)
                    writer.write(document)
            attempt.commit([records, ledger])


def made(number: int, config: RunConfig, dice: random.Random) -> Document:
    """A document with scores that nobody measured."""
    nodes: list[Node] = []
    for place in range(PARAGRAPHS):
        scores = {name: dice.random() ** 3 for name in config.filters.paragraph} | {"word_count": dice.randrange(1, 80)}
        reason = "word_count" if scores["word_count"] < 3 else None
        nodes.append(TextNode(" ".join(dice.choices(WORDS, k=25)), "paragraph", reason, scores))
        if place % (PARAGRAPHS // IMAGES) == 1:
            image = ImageNode(f"https://i.example/{number}-{place}.jpg", "x", format="jpeg")
            image.original_width, image.original_height = dice.randrange(100, 2000), dice.randrange(100, 2000)
            nodes.append(image)
    document = Document(
        f"{number:032x}", f"https://s{number % SITES}.example/{number}", "made.warc.gz", number, 1, nodes
    )
    document.language = dice.choice(LANGUAGES)
    document.general = {"warc_date": f"2024-{number % 12 + 1:02d}-01T00:00:00Z"}
    document.scores = {name: dice.random() for name in score_names(config)}
    document.scores |= {
        "word_count": dice.lognormvariate(6, 1),
        "image_count": float(IMAGES),
        "flagged_word_ratio": 0.0,
    }
    if (document.scores["farm_score"] or 0) > 0.95:
        document.reason = "farm_score"
    return document


def ask(folder: Path) -> None:
    """Open the folder and time each question, with a threshold that moves."""
    began = time.perf_counter()
    bench = Workbench(folder, 1)
    print(f"{len(bench.run.documents):,} documents; opened in {time.perf_counter() - began:.1f} s")
    began = time.perf_counter()
    print(f"{len(bench.run.paragraphs):,} paragraphs, {len(bench.run.images):,} images", end="; ")
    print(f"read in {time.perf_counter() - began:.1f} s")
    document = bench.run.documents.ids[len(bench.run.documents) // 2]
    timed("about", lambda _i: bench.about())
    timed("a threshold of documents", lambda i: bench.estimate({"filters.document.word_count.min": 100 + i}))
    timed("a threshold of paragraphs", lambda i: bench.estimate({"filters.paragraph.word_count.min": 5 + i}))
    timed("… what its rules do", lambda i: bench.counts({"filters.paragraph.word_count.min": 5 + i}, "paragraph"))
    timed("a threshold of images", lambda i: bench.estimate({"images.min_side": 150 + i}))
    timed("… what its rules do", lambda i: bench.counts({"images.min_side": 150 + i}, "image"))
    timed("histogram of documents", lambda _i: bench.histogram("document", "word_count", language="en"))
    timed("histogram of paragraphs", lambda _i: bench.histogram("paragraph", "word_count"))
    timed("documents at the line", lambda i: bench.near("document", "word_count", 100 + i))
    timed("paragraphs at the line", lambda i: bench.near("paragraph", "word_repetition_ratio", 0.3 + i / 100))
    timed("two configs", lambda i: bench.compared({"filters.document.word_count.min": 100 + i}, {}))
    timed("a document to read", lambda _i: bench.document(document))
    print(f"memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} GiB")


def timed(name: str, question: Callable[[int], Any]) -> None:
    """Ask some times."""
    seconds = []
    for i in range(TIMES):
        began = time.perf_counter()
        question(i)
        seconds.append(time.perf_counter() - began)
    print(f"{name:28} {1000 * median(seconds):7.0f} ms, {1000 * max(seconds):7.0f} the slowest")


if __name__ == "__main__":
    main()
