"""WARC to measured documents beside a plain trafilatura loop and beside parsing alone: CPU seconds, in turn, one run.

    python benchmarks/end_to_end.py [--repeat N] [--config NAME] FILE.warc.gz …

* parse: read every page, decode it, and let selectolax parse it; nothing else
* trafilatura: read every page, decode it, and call trafilatura.extract on it; no score, no language, no image
* obelics: the extract stage as `obelics run` calls it: nodes, paragraph and document statistics, language, Parquet

Reading and decoding is the same code in all three, so that what differs is the work on the page.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import trafilatura
from selectolax.lexbor import LexborHTMLParser

from obelics_pipeline.config import RunConfig, load_config
from obelics_pipeline.extract.stage import extract_unit, extract_units
from obelics_pipeline.read.inputs import resolve_inputs
from obelics_pipeline.read.page import Page
from obelics_pipeline.read.ranges import ReadTask, plan_ranges
from obelics_pipeline.read.records import read_task


def pages(tasks: list[ReadTask], config: RunConfig) -> Iterator[Page]:
    """Every page of the files."""
    for task in tasks:
        yield from (item for item in read_task(task, config.reading) if isinstance(item, Page))


def parse(tasks: list[ReadTask], config: RunConfig) -> int:
    """Read, decode and parse; returns the number of pages."""
    n = 0
    for page in pages(tasks, config):
        n += LexborHTMLParser(page.html.encode("utf-8", "replace")).root is not None
    return n


def with_trafilatura(tasks: list[ReadTask], config: RunConfig) -> int:
    """Read, decode and extract with trafilatura's defaults."""
    n = 0
    for page in pages(tasks, config):
        trafilatura.extract(page.html, url=page.url)
        n += 1
    return n


def with_ours(tasks: list[ReadTask], config: RunConfig) -> int:
    """The whole extract stage into a temporary folder; returns the number of pages that gave documents."""
    with tempfile.TemporaryDirectory() as folder:
        units = extract_units(tasks, config)
        manifests = [extract_unit(unit, folder=Path(folder), config=config) for unit in units]
    return sum(m.ledgers["records"].kept for m in manifests)


def cpu(work: Callable[[], int]) -> tuple[float, int]:
    """CPU seconds of a call, and what it returned."""
    start = time.process_time()
    n = work()
    return time.process_time() - start, n


def main() -> None:
    """Print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE.warc.gz")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--config", default="default")
    arguments = parser.parse_args()
    config = load_config(arguments.config)
    tasks = plan_ranges(resolve_inputs(arguments.files, config.reading), config.reading)
    with_ours(tasks[:1], config)  # load the language model and the word lists
    found: dict[str, list[float]] = {"parse": [], "obelics": [], "trafilatura": []}
    for _ in range(arguments.repeat):
        seconds, n = cpu(lambda: parse(tasks, config))
        found["parse"].append(1000 * seconds / n)
        found["obelics"].append(1000 * cpu(lambda: with_ours(tasks, config))[0] / n)
        found["trafilatura"].append(1000 * cpu(lambda: with_trafilatura(tasks, config))[0] / n)
    medians = {name: statistics.median(values) for name, values in found.items()}
    print(f"{n} pages, medians of {arguments.repeat} runs taken in turn, CPU ms per page")
    for name, value in medians.items():
        print(f"{name:12} {value:8.2f} ms   {value / medians['parse']:6.2f} x parse")
    print(f"obelics is {medians['trafilatura'] / medians['obelics']:.1f} times as fast as trafilatura")


if __name__ == "__main__":
    main()
