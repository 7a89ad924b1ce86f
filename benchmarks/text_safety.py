"""What it costs to look for personal data and for the domain of a page, beside what else is measured of a document.

    python benchmarks/text_safety.py WARC... [--documents N] [--repeats N] [--entries N]

Pages are read and extracted first, then the steps take turns over copies of the same documents; figures are medians
over the rounds, in milliseconds of CPU time per document. The list has made-up entries, so no page is dropped.
"""

from __future__ import annotations

import argparse
import copy
import os
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from obelics_pipeline.core.config import RunConfig, load_config
from obelics_pipeline.core.document import Document
from obelics_pipeline.stages.extract.measure import Measurer
from obelics_pipeline.stages.extract.safety import Safety
from obelics_pipeline.stages.extract.stage import Refused, page_documents
from obelics_pipeline.stages.read.inputs import resolve_inputs
from obelics_pipeline.stages.read.page import Page
from obelics_pipeline.stages.read.ranges import plan_ranges
from obelics_pipeline.stages.read.records import read_task

OFF = ["personal_data={enabled: false}", "blocklists={}"]


def read_documents(paths: Sequence[str], at_most: int) -> list[tuple[Document, str | None]]:
    """The documents of the pages of WARC files, untreated."""
    config = load_config("default", OFF)
    safety = Safety(config)
    found: list[tuple[Document, str | None]] = []
    for task in plan_ranges(resolve_inputs(paths, config.reading), config.reading):
        for item in read_task(task, config.reading):
            if isinstance(item, Page):
                documents = page_documents(item, config, safety)
                if not isinstance(documents, Refused):
                    found += [(document, None) for document in documents]
            if len(found) >= at_most:
                return found[:at_most]
    return found


def timed(work: Callable[[Document], object], documents: Sequence[Document]) -> float:
    """Milliseconds of CPU time per document."""
    fresh = copy.deepcopy(documents)
    begin = time.process_time()
    for document in fresh:
        work(document)
    return (time.process_time() - begin) / len(fresh) * 1e3


def main() -> None:
    """Read, take turns, print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("warc", nargs="+")
    parser.add_argument("--documents", type=int, default=2_000)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--entries", type=int, default=100_000)
    options = parser.parse_args()
    documents = [document for document, _ in read_documents(options.warc, options.documents)]
    characters = statistics.mean(len(document.text()) for document in documents)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        path = Path(folder) / "list.txt"
        path.write_text("".join(f"made-up-{n}.example\n" for n in range(options.entries)), "utf-8")
        config = load_config("default", [f"blocklists={{made: {{path: '{path}', applies_to: [pages, images]}}}}"])
        config = config.model_copy(update={"personal_data": config.personal_data.model_copy(update={"enabled": True})})
        report(documents, characters, config, options.repeats)


def report(documents: Sequence[Document], characters: float, config: RunConfig, repeats: int) -> None:
    """Measure and print."""
    safety, measurer = Safety(config), Measurer(config.filters, config.language)

    def lists(document: Document) -> None:
        safety.page_reason(document.url)
        safety.judge_images(document.nodes)

    steps: dict[str, Callable[[Document], object]] = {
        "personal data": lambda document: safety.clean([document], None),
        "blocklist: page and images": lists,
        "language and all filters": measurer.measure,
    }
    found: Counter[str] = Counter()
    for document in copy.deepcopy(documents):  # loads what is loaded once, and counts
        safety.clean([document], None)
        found.update({name: int(value or 0) for name, value in document.scores.items()})
    rounds: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(repeats):
        for name, step in steps.items():
            rounds[name].append(timed(step, documents))
    print(
        f"{len(documents):,} documents of {characters:,.0f} characters on average; found: {dict(sorted(found.items()))}"
    )
    for name, figures in rounds.items():
        print(f"{name:28} {statistics.median(figures):.3f} ms   (best {min(figures):.3f}, worst {max(figures):.3f})")


if __name__ == "__main__":
    main()
