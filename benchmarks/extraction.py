"""Our extraction and its peers, side by side in one run on the same decoded pages: quality and CPU time.

    python benchmarks/extraction.py FILE.warc.gz … [--evaluate 'COMMAND with {}'] [--every N] [--rounds N]
                                    [--only NAME …] [--languages CODE …] [--keep DIR] [--fifths] [--stage]

* parse: selectolax parses the page and nothing else, the floor of the speed
* main, page, obelics: ours, by the options in OURS
* trafilatura, trafilatura-fast: with images, without comments; `fast` skips its backup extractors
* readability: readability-lxml's summary
* resiliparse: its main content, text only

Only the call of an extractor is timed. --stage adds the whole extract stage by the default config: reading, extraction,
all measuring, writing. What it gives becomes a document afterwards: a Parquet file per variant, with
the columns of OBELICS. COMMAND judges such a file: any program will do that prints JSON of the form
{section: {figure: {"value": …, "low": …, "high": …}}}, shares from 0 to 1, with the figures that FIGURES names; a
figure that it does not print is shown as "-". With --languages it is run again with `--lang CODE` added.
A peer that is not installed (`pip install '.[bench]'`) is left out.
"""

from __future__ import annotations

import argparse
import gc
import json
import logging
import re
import shlex
import statistics
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pyarrow as pa
import pyarrow.parquet as pq
from selectolax.lexbor import LexborHTMLParser, LexborNode

from obelics_pipeline.core.config import ExtractionConfig, ReadingConfig, load_config
from obelics_pipeline.core.document import ImageNode, Node, TextNode, interleave, to_json
from obelics_pipeline.core.storage import location
from obelics_pipeline.core.tables import PUBLISHED
from obelics_pipeline.stages.extract.page import extract_page
from obelics_pipeline.stages.extract.stage import extract_unit, extract_units
from obelics_pipeline.stages.extract.walk import INLINE, walk
from obelics_pipeline.stages.read.inputs import resolve_inputs
from obelics_pipeline.stages.read.page import Page
from obelics_pipeline.stages.read.ranges import plan_ranges
from obelics_pipeline.stages.read.records import read_task

# Options of the extract section of a config, by the name of the variant.
OURS = {
    "main": {"rules": "default", "scope": "main"},
    "page": {"rules": "default", "scope": "page"},
    "obelics": {"rules": "obelics"},
}

WARM_UP = 10  # pages of an untimed round, in which extractors load and compile what they need once

FIGURES = (
    "text.f1",
    "snippets.balanced",
    "images.f1",
    "order.placed_f1",
    "order.neighbour",
    "images.lead_image",
    "coverage.pages",
)

# ---------------------------------------------------------------- what is compared


@dataclass(frozen=True, slots=True)
class Variant:
    """An extractor: `extract(html, url)` is what is timed, `nodes(what it gave, url)` makes nodes of that.

    `nodes` is None where nothing but the time is of interest.
    """

    extract: Callable[[str, str], Any]
    nodes: Callable[[Any, str], list[Node]] | None


def parse() -> Variant:
    """Parsing alone. The tree is freed as it is by those who extract: kept, it would cost half as much again."""

    def parse_and_free(html: str, url: str) -> None:
        LexborHTMLParser(html)

    return Variant(parse_and_free, None)


def ours(options: dict[str, str]) -> Variant:
    """Our extraction, as the pipeline calls it. Raises pydantic's ValidationError for unknown options."""
    config = ExtractionConfig.model_validate(options)
    return Variant(lambda html, url: extract_page(html, url, config).nodes, lambda nodes, url: nodes)


def trafilatura(fast: bool) -> Variant:
    """trafilatura's HTML output, which is the one that is simplest to read and has the images in their places."""
    from trafilatura import extract

    options: dict[str, Any] = {"output_format": "html", "include_images": True, "include_comments": False}
    return Variant(lambda html, url: extract(html, url=url, fast=fast, **options), html_nodes)


def readability() -> Variant:
    """readability-lxml with its defaults."""
    from readability import Document

    return Variant(lambda html, url: Document(html, url=url).summary(), html_nodes)


def resiliparse() -> Variant:
    """Resiliparse's main content, without comments and without the alternative texts of images, which are no text."""
    from resiliparse.extract.html2text import extract_plain_text

    def extract(html: str, url: str) -> str:
        return extract_plain_text(html, main_content=True, alt_texts=False, comments=False)

    return Variant(extract, plain_nodes)


MAKERS: dict[str, Callable[[], Variant]] = {
    "parse": parse,
    **{name: partial(ours, options) for name, options in OURS.items()},
    "trafilatura": partial(trafilatura, fast=False),
    "trafilatura-fast": partial(trafilatura, fast=True),
    "readability": readability,
    "resiliparse": resiliparse,
}


def make_variants(names: Iterable[str]) -> dict[str, Variant]:
    """The named variants whose library is installed; the others are reported."""
    made: dict[str, Variant] = {}
    for name in names:
        try:
            made[name] = MAKERS[name]()
        except ImportError as error:
            print(f"{name} is left out: {error}")
    return made


# ---------------------------------------------------------------- what peers give, as nodes

BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details div dl dt fieldset figcaption figure footer form "
    "h1 h2 h3 h4 h5 h6 header hr html li main nav ol option p pre section summary table tbody td tfoot th thead tr "
    "ul".split()
)  # elements whose start and end separate paragraphs
_BLOCK = 2  # the listener's code for such an element
UNBOUNDED = ExtractionConfig(max_nodes=10**9, max_depth=10**9, max_seconds=1e9)  # what a peer gave is read to its end
SOURCES = ("src", "data-src", "data-original", "data-lazy-src")  # where lazy loaders leave an image's URL, too


class ArticleListener:
    """Collects the paragraphs and images of an extracted article, in document order, all that is there."""

    def __init__(self, url: str) -> None:
        self.nodes: list[Node] = []
        self._url = url
        self._paragraph: list[str] = []

    def enter(self, node: LexborNode, tag: int) -> int:
        """A block ends the paragraph before it, and so does an image; a line break is a space."""
        name = node.tag
        if name in BLOCKS:
            self.flush()
            return _BLOCK
        if name == "br":
            self.text(" ")
        elif name == "img":
            self._image(node.attributes)
        return INLINE

    def leave(self, code: int) -> None:
        """The end of a block is the end of a paragraph."""
        self.flush()

    def text(self, text: str) -> None:
        """The paragraph goes on."""
        self._paragraph.append(text)

    def flush(self) -> None:
        """End the paragraph."""
        text = " ".join("".join(self._paragraph).split())
        if text:
            self.nodes.append(TextNode(text))
        self._paragraph.clear()

    def _image(self, attributes: dict[str, str | None]) -> None:
        written = [(attributes.get(name) or "").strip() for name in SOURCES]
        source = next((value for value in written if value and not value.startswith("data:")), None)
        if source is None:
            return
        try:
            absolute = urljoin(self._url, source)
        except ValueError:
            return  # such as http://[
        self.flush()
        self.nodes.append(ImageNode(src=absolute, unformatted_src=source, alt_text=attributes.get("alt")))


def html_nodes(html: str | None, url: str) -> list[Node]:
    """The nodes of an extracted article in HTML; None is no article."""
    body = LexborHTMLParser((html or "").encode("utf-8", "replace")).body
    listener = ArticleListener(url)
    if body is not None:
        walk(body, listener, UNBOUNDED)
    listener.flush()
    return listener.nodes


def plain_nodes(text: str, url: str) -> list[Node]:
    """The paragraphs of a plain text, which blank lines separate."""
    return [TextNode(part.strip()) for part in re.split(r"\n\s*\n", text) if part.strip()]


# ---------------------------------------------------------------- running them


@dataclass(frozen=True, slots=True)
class Failed:
    """A page that an extractor raised an exception for, by the name of its class."""

    reason: str


@dataclass(slots=True)
class Measured:
    """What became of a variant: CPU seconds of each round, and the last round's nodes and failures by page."""

    seconds: list[float] = field(default_factory=list)
    nodes: list[list[Node]] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)


def read_pages(paths: list[str], every: int) -> list[Page]:
    """Every n-th page, read and decoded: that is not what is measured."""
    config = ReadingConfig()
    tasks = plan_ranges(resolve_inputs(paths, config), config)
    found = (item for task in tasks for item in read_task(task, config) if isinstance(item, Page))
    return [page for number, page in enumerate(found) if number % every == 0]


def extract_all(variant: Variant, pages: list[Page]) -> tuple[float, list[Any]]:
    """CPU seconds of one round over all pages, and what each gave: an exception costs that page its document."""
    gc.collect()  # what the variant before left behind is not this one's work
    results: list[Any] = []
    start = time.process_time()
    for page in pages:
        try:
            results.append(variant.extract(page.html, page.url))
        except Exception as error:
            results.append(Failed(type(error).__name__))
    return time.process_time() - start, results


def measure(variants: dict[str, Variant], pages: list[Page], rounds: int) -> dict[str, Measured]:
    """All rounds, the variants in turn in each, so that a busy machine disturbs the ratios little."""
    measured = {name: Measured() for name in variants}
    for variant in variants.values():
        extract_all(variant, pages[:WARM_UP])
    for number in range(rounds):
        for name, variant in variants.items():
            seconds, results = extract_all(variant, pages)
            measured[name].seconds.append(seconds)
            if number == rounds - 1:
                keep_results(measured[name], variant, results, pages)
    return measured


def time_stage(paths: list[str], rounds: int) -> Measured:
    """CPU seconds of the extract stage over the files, of each round; an untimed one loads its models."""
    config = load_config("default")
    units = extract_units(plan_ranges(resolve_inputs(paths, config.reading), config.reading), config)
    measured = Measured()
    for _ in range(rounds + 1):
        gc.collect()
        start = time.process_time()
        for unit in units:
            with tempfile.TemporaryDirectory() as folder:
                extract_unit(unit, folder=location(folder), config=config)
        measured.seconds.append(time.process_time() - start)
    del measured.seconds[0]
    return measured


def fifths(pages: list[Page]) -> dict[str, list[Page]]:
    """The shortest, the middle and the longest fifth of the pages, by the characters of their HTML; five at least."""
    ordered = sorted(pages, key=lambda page: len(page.html))
    ends = [len(ordered) * number // 5 for number in range(6)]
    return {name: ordered[ends[at] : ends[at + 1]] for name, at in (("shortest", 0), ("middle", 2), ("longest", 4))}


def keep_results(measured: Measured, variant: Variant, results: list[Any], pages: list[Page]) -> None:
    """Turn a round's results into nodes, none for a page that failed."""
    measured.failures.update(result.reason for result in results if isinstance(result, Failed))
    if variant.nodes is None:
        return
    for result, page in zip(results, pages, strict=True):
        measured.nodes.append([] if isinstance(result, Failed) else variant.nodes(result, page.url))


def write_documents(path: Path, pages: list[Page], nodes: list[list[Node]]) -> None:
    """One document per page in the published columns of OBELICS, however long the page is."""
    rows = [document_row(page, found) for page, found in zip(pages, nodes, strict=True)]
    pq.write_table(pa.Table.from_pylist(rows, schema=PUBLISHED), path)


def document_row(page: Page, nodes: list[Node]) -> dict[str, Any]:
    """The columns of one document."""
    columns = interleave(nodes, page.url)
    general = {"url": page.url, "warc_filename": page.warc_filename, "warc_record_offset": page.offset}
    return {
        "images": columns.images,
        "metadata": to_json(columns.metadata),
        "general_metadata": to_json(general),
        "texts": columns.texts,
    }


# ---------------------------------------------------------------- the tables


def judge(command: str, path: Path, language: str | None) -> dict[str, Any]:
    """What the evaluator prints for a file of documents. Raises SystemExit in one line where it fails."""
    arguments = [part.replace("{}", str(path)) for part in shlex.split(command)]
    arguments += ["--lang", language] if language else []
    try:
        done = subprocess.run(arguments, capture_output=True, text=True)
    except OSError as error:
        raise SystemExit(f"--evaluate: {error}") from None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise SystemExit(f"{arguments[0]} ended with status {done.returncode}: {last}")
    try:
        found: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        raise SystemExit(f"{arguments[0]} printed no JSON") from None
    return found


def figure_cell(judged: dict[str, Any], figure: str) -> str:
    """A figure in percentage points, with its interval where there is one."""
    section, name = figure.split(".")
    found = judged.get(section, {}).get(name, {})
    if found.get("value") is None:
        return "-"
    shown = f"{100 * found['value']:.1f}"
    return shown + (f" ({100 * found['low']:.1f}–{100 * found['high']:.1f})" if "low" in found else "")


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A Markdown table, its columns aligned."""
    widths = [max(len(cell) for cell in column) for column in zip(header, *rows, strict=True)]
    dashes = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    for row in (header, dashes, *rows):
        first, *others = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        print("| " + " | ".join([first.strip().ljust(widths[0]), *others]) + " |")


def print_judged(command: str, files: dict[str, Path], language: str | None) -> None:
    """The quality of every file of documents, as the evaluator sees it."""
    print(f"\nQuality, pages in {language}" if language else "\nQuality", "(percentage points, with the interval)\n")
    judged = {name: judge(command, path, language) for name, path in files.items()}
    rows = [[name, *(figure_cell(found, figure) for figure in FIGURES)] for name, found in judged.items()]
    print_table(("variant", *FIGURES), rows)


def print_counted(documents: dict[str, list[list[Node]]]) -> None:
    """What can be told of documents without knowing what is right."""
    print("\nDocuments\n")
    header = ("variant", "pages with a document %", "characters per page", "images per page")
    print_table(header, [[name, *count_cells(found)] for name, found in documents.items()])


def count_cells(documents: list[list[Node]]) -> list[str]:
    """Share of pages with a document, mean characters and mean images of a page."""
    full = statistics.fmean(bool(nodes) for nodes in documents)
    characters = statistics.fmean(sum(len(n.text) for n in d if isinstance(n, TextNode)) for d in documents)
    images = statistics.fmean(sum(isinstance(n, ImageNode) for n in d) for d in documents)
    return [f"{100 * full:.1f}", f"{characters:.0f}", f"{images:.2f}"]


def print_speed(measured: dict[str, Measured], n_pages: int) -> None:
    """CPU time of every variant; the ratios are those of the best rounds, which a busy machine disturbs least."""
    rounds = max(len(found.seconds) for found in measured.values())
    print(f"\nSpeed (CPU ms per page, {rounds} rounds in turn; failed: pages that raised an exception)\n")
    best = {name: min(found.seconds) for name, found in measured.items()}

    def ratio(name: str, other: str) -> str:
        return f"{best[name] / best[other]:.2f}" if other in best else "-"

    rows = []
    for name, found in measured.items():
        times = (best[name], statistics.median(found.seconds))
        cells = [f"{1000 * seconds / n_pages:.3f}" for seconds in times]
        reasons = ", ".join(f"{n} {reason}" for reason, n in sorted(found.failures.items()))
        rows.append([name, *cells, ratio(name, "parse"), ratio(name, "trafilatura"), reasons or "0"])
    print_table(("variant", "best", "median", "x parse", "x trafilatura", "failed"), rows)


# ---------------------------------------------------------------- the command


def read_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE.warc.gz")
    parser.add_argument(
        "--evaluate", metavar="COMMAND", help="judges the Parquet file whose path takes the place of {}"
    )
    parser.add_argument("--languages", nargs="+", default=[], metavar="CODE", help="judge these on their own, too")
    parser.add_argument(
        "--every",
        type=int,
        default=1,
        metavar="N",
        help="take every n-th page; to COMMAND the others are missing pages",
    )
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    parser.add_argument(
        "--only", nargs="+", choices=MAKERS, default=list(MAKERS), metavar="NAME", help=", ".join(MAKERS)
    )
    parser.add_argument("--fifths", action="store_true", help="the speed on short, middling and long pages, too")
    parser.add_argument("--stage", action="store_true", help="time the whole extract stage, too; all pages")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="leave the Parquet files here")
    arguments = parser.parse_args()
    if min(arguments.every, arguments.rounds) < 1:
        parser.error("--every and --rounds are at least 1")
    if arguments.stage and arguments.every > 1:
        parser.error("--stage reads all pages: leave out --every")
    if arguments.evaluate is not None and "{}" not in arguments.evaluate:
        parser.error("--evaluate needs {} where the path belongs")
    return arguments


def open_folder(keep: Path | None) -> AbstractContextManager[Path | str]:
    """Where the documents go: a folder to keep, or one that is gone afterwards."""
    if keep is None:
        return tempfile.TemporaryDirectory()
    keep.mkdir(parents=True, exist_ok=True)
    return nullcontext(keep)


def write_all(folder: Path, pages: list[Page], measured: dict[str, Measured]) -> dict[str, Path]:
    """A Parquet file for every variant that has documents."""
    files = {name: folder / f"{name}.parquet" for name, found in measured.items() if found.nodes}
    for name, path in files.items():
        write_documents(path, pages, measured[name].nodes)
    return files


def main() -> None:
    """Print the tables."""
    arguments = read_arguments()
    logging.disable()  # peers log what they cannot read; here it is counted
    pages = read_pages(arguments.files, arguments.every)
    if not pages:
        raise SystemExit("no page in these files")
    size = statistics.fmean(len(page.html) for page in pages)
    print(f"{len(pages)} pages, {size / 1000:.0f} thousand characters on average")
    variants = make_variants(arguments.only)
    measured = measure(variants, pages, arguments.rounds)
    stage = {"stage": time_stage(arguments.files, arguments.rounds)} if arguments.stage else {}
    print_speed(measured | stage, len(pages))
    if arguments.fifths and len(pages) >= 5:
        for name, some in fifths(pages).items():
            size = statistics.fmean(len(page.html) for page in some)
            print(f"\nThe {name} fifth: {len(some)} pages, {size / 1000:.0f} thousand characters on average")
            print_speed(measure(variants, some, arguments.rounds), len(some))
    with open_folder(arguments.keep) as folder:
        files = write_all(Path(folder), pages, measured)
        if arguments.evaluate is None:
            print_counted({name: measured[name].nodes for name in files})
        else:
            for language in (None, *arguments.languages):
                print_judged(arguments.evaluate, files, language)


if __name__ == "__main__":
    main()
