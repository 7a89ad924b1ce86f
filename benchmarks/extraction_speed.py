"""CPU milliseconds per page: parsing alone, both rule sets, trafilatura, side by side on the pages of WARC files.

    python benchmarks/extraction_speed.py FILE.warc.gz ... [--every N] [--rounds N]

Every round takes the variants in turn over the same decoded pages; the best round of each counts, so that a busy
machine disturbs the ratios little. trafilatura is left out where it is not installed.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

from selectolax.lexbor import LexborHTMLParser

from obelics_pipeline.config import ExtractionConfig, ReadingConfig
from obelics_pipeline.extract.page import PageRejected, extract_page
from obelics_pipeline.read.inputs import resolve_inputs
from obelics_pipeline.read.page import Page
from obelics_pipeline.read.ranges import plan_ranges
from obelics_pipeline.read.records import read_task

Variant = Callable[[str, str], object]


def read_pages(paths: list[str], every: int) -> list[tuple[str, str]]:
    """(HTML, URL) of every n-th page, read and decoded: that is not what is measured."""
    config = ReadingConfig()
    tasks = plan_ranges(resolve_inputs(paths, config), config)
    found = (item for task in tasks for item in read_task(task, config) if isinstance(item, Page))
    return [(page.html, page.url) for page in found][::every]


def extraction(rules: str) -> Variant:
    """Extraction by a rule set, as the pipeline calls it."""
    config = ExtractionConfig.model_validate({"rules": rules})

    def run(html: str, url: str) -> object:
        try:
            return extract_page(html, url, config)
        except PageRejected:
            return None

    return run


def variants() -> dict[str, Variant]:
    """What is compared, by name; the first is the floor."""
    found: dict[str, Variant] = {
        "parse only": lambda html, url: LexborHTMLParser(html),
        "default": extraction("default"),
        "obelics": extraction("obelics"),
    }
    try:
        import trafilatura
    except ImportError:
        return found
    found["trafilatura"] = lambda html, url: trafilatura.extract(html, url=url, include_images=True)
    return found


def measure(pages: list[tuple[str, str]], rounds: int) -> dict[str, float]:
    """CPU seconds of the best round of each variant."""
    compared = variants()
    best = dict.fromkeys(compared, float("inf"))
    for number in range(rounds):
        for name, run in compared.items():
            if name == "trafilatura" and number:
                continue  # 15 times slower: one round tells enough
            start = time.process_time()
            for html, url in pages:
                run(html, url)
            best[name] = min(best[name], time.process_time() - start)
    return best


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("warc", nargs="+")
    parser.add_argument("--every", type=int, default=1, help="take every n-th page (default: all)")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    pages = read_pages(arguments.warc, arguments.every)
    size = sum(len(html) for html, _ in pages) / max(len(pages), 1)
    print(f"{len(pages)} pages, {size / 1000:.0f} thousand characters on average")
    best = measure(pages, arguments.rounds)
    floor = best["parse only"]
    for name, seconds in best.items():
        print(f"{name:12} {1000 * seconds / len(pages):7.3f} ms/page   {seconds / floor:5.2f} x parse")


if __name__ == "__main__":
    main()
