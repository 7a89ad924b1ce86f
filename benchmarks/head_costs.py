"""What each head of `farm_score` costs: CPU time of the process, on honest pages and on farms.

    python benchmarks/head_costs.py BENCH.jsonl … [--words 1000] [--language en]

BENCH.jsonl, or BENCH.jsonl.gz, has {"label", "text"} a line; label 1 is generated. Texts are cut to so many words, and
shorter ones are filled up with those after them. Beside what a head takes of a page stands the share of pages that it
is asked about, for a cheaper one may settle a page, and what it adds to the mean. CPU time leaves out what other
processes take, but not that they share the caches.
"""

from __future__ import annotations

import argparse
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.filters.registry import build
from obelics_pipeline.filters.text import Text
from obelics_pipeline.fit.texts import text_files
from obelics_pipeline.models.farm_heads.panel import Head, Panel

KINDS = {0: "honest", 1: "farms"}
MOST = 400  # pages of a kind
WARM_UP = 20  # pages before the clock starts
ROUNDS = 3  # of which the fastest counts
COLUMN = "farm_score"
_WORD = re.compile(r"\s*\S+")


def main() -> None:
    """Print a row for each head and for all together, of each kind of page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench", nargs="+", metavar="BENCH.jsonl")
    parser.add_argument("--words", type=int, default=1000)
    parser.add_argument("--language", default="en")
    arguments = parser.parse_args()
    try:
        rows = [row for file in text_files(arguments.bench) for row in file.rows((), lambda row: row)]
    except UserError as error:
        parser.exit(error.exit_code, f"{error}\n")
    panel = Panel.of(arguments.language, [])
    for label, kind in KINDS.items():
        texts = (str(row["text"]) for row in rows if row["label"] == label)
        found = list(islice(pages(texts, arguments.words), MOST))
        if found:
            print("\n".join(table(f"{kind}, {len(found)} pages", panel, arguments.language, found)))


def pages(texts: Iterable[str], words: int) -> Iterator[str]:
    """Pages of so many words: each begins with a text, and takes from those after it what it lacks."""
    page: list[str] = []
    for text in texts:
        page += _WORD.findall(f"\n\n{text}")
        if len(page) >= words:
            yield "".join(page[:words])
            page = []


def table(title: str, panel: Panel, language: str, found: Sequence[str]) -> Iterator[str]:
    """A row for each head; the sum of what they add, and the whole as a run measures it."""
    yield f"{title:28}{'ms of a page':>14}{'asked about':>14}{'ms in the mean':>16}"
    asked = Counter(head.kind.name for text in found for head, _ in panel.judge(text))
    total = 0.0
    for head in panel.heads:
        each = milliseconds(partial(_asked, head), found)
        share = asked[head.kind.name] / len(found)
        total += each * share
        yield f"{head.kind.name:28}{each:14.3f}{share:14.2f}{each * share:16.3f}"
    yield f"{'heads together':28}{'':28}{total:16.3f}"
    score = build(COLUMN, {}).score
    yield f"{COLUMN:28}{'':28}{milliseconds(lambda text: score(Text(text, language)), found):16.3f}"


def _asked(head: Head, text: str) -> int | None:
    return head.log_odds(text, len(text.split()))


def milliseconds(measure: Callable[[str], object], found: Sequence[str]) -> float:
    """CPU time of a page."""
    for text in found[:WARM_UP]:
        measure(text)
    rounds = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        for text in found:
            measure(text)
        rounds.append(time.process_time() - begin)
    return 1000 * min(rounds) / len(found)


if __name__ == "__main__":
    main()
