"""Looks for pages that extraction does not stand: mutated real pages, where any are given, and tag soups.

    python -m tests.stages.extract.fuzz_extraction --seconds 600 [--seed N] [--failure FILE] [FILE.warc.gz …]

Checks what the property tests check (claims.py), and that no page takes longer than its bounds allow. On a failure the
page, made as small as it goes, is written to FILE (fuzz-failure.html) and the exit status is 1.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from obelics_pipeline.core.config.extraction import ExtractionConfig
from obelics_pipeline.core.config.reading import ReadingConfig
from obelics_pipeline.stages.read.inputs import resolve_inputs
from obelics_pipeline.stages.read.page import Page
from obelics_pipeline.stages.read.ranges import plan_ranges
from obelics_pipeline.stages.read.records import read_task
from tests.stages.extract.claims import CONFIGS, check
from tests.stages.extract.soups import ATTRIBUTES, TAGS, soup

_SLOW = 20.0  # seconds of CPU time: twice the walk's bound, for parsing and checking
_LONGEST = 300_000  # characters of a page that are used
_MINIMISING = 120.0  # seconds


def main() -> int:
    """Fuzz until the time is over or something fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE.warc.gz")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--failure", type=Path, default=Path("fuzz-failure.html"))
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    pages = read_pages(arguments.files)
    print(f"seed {arguments.seed}, {len(pages)} real pages")
    outcomes: Counter[str] = Counter()
    slowest = 0.0
    end = time.monotonic() + arguments.seconds
    while time.monotonic() < end:
        html = a_page(chance, pages)
        config = chance.choice(CONFIGS)
        started = time.process_time()
        error, outcome = judge(html, config)
        slowest = max(slowest, time.process_time() - started)
        outcomes[outcome] += 1
        if error is not None:
            smallest = minimise(html, lambda part, config=config, kind=outcome: judge(part, config)[1] == kind)
            arguments.failure.write_bytes(smallest.encode("utf-8", "surrogatepass"))
            print(f"failed with scope={config.scope} markup={config.markup}: {judge(smallest, config)[0]}")
            print(f"page of {len(smallest)} characters in {arguments.failure}; counts so far: {dict(outcomes)}")
            return 1
    print(f"{outcomes.total()} pages, slowest check {slowest:.2f} s: {dict(outcomes.most_common())}")
    return 0


def read_pages(files: Sequence[str]) -> list[str]:
    """The HTML of the responses in WARC files."""
    config = ReadingConfig()
    tasks = plan_ranges(resolve_inputs(files, config), config) if files else []
    return [item.html for task in tasks for item in read_task(task, config) if isinstance(item, Page)]


def judge(html: str, config: ExtractionConfig) -> tuple[Exception | None, str]:
    """What went wrong, and what came of a page: of a failure, its kind."""
    started = time.process_time()
    try:
        outcome = check(html, config)
    except Exception as error:  # whatever it is, it should not have been raised
        return error, type(error).__name__ + (
            f" {error}".partition(":")[0] if isinstance(error, AssertionError) else ""
        )
    seconds = time.process_time() - started
    return (TimeoutError(f"{seconds:.1f} s"), "slow") if seconds > _SLOW else (None, outcome)


def a_page(chance: random.Random, pages: Sequence[str]) -> str:
    """A soup or a page, mutated a few times."""
    if not pages or chance.random() < 0.3:
        html = soup(chance.choice, chance.choice((10, 50, 300, 2_000)))
    else:
        html = chance.choice(pages)
    for _ in range(chance.choice((0, 1, 1, 3, 10, 40))):
        html = chance.choice(MUTATIONS)(chance, html[:_LONGEST], pages)
    return html


Mutation = Callable[[random.Random, str, Sequence[str]], str]


def _flip(chance: random.Random, html: str, pages: Sequence[str]) -> str:
    """Bits of single bytes change."""
    data = bytearray(html.encode("utf-8", "replace"))
    for _ in range(min(len(data), chance.choice((1, 5, 50)))):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return data.decode("utf-8", chance.choice(("replace", "surrogateescape")))


def _delete(chance: random.Random, html: str, pages: Sequence[str]) -> str:
    start, end = _stretch(chance, html)
    return html[:start] + html[end:]


def _double(chance: random.Random, html: str, pages: Sequence[str]) -> str:
    start, end = _stretch(chance, html)
    return html[:end] + html[start:end] * chance.choice((1, 1, 3)) + html[end:]


def _move(chance: random.Random, html: str, pages: Sequence[str]) -> str:
    start, end = _stretch(chance, html)
    rest = html[:start] + html[end:]
    at = chance.randint(0, len(rest))
    return rest[:at] + html[start:end] + rest[at:]


def _truncate(chance: random.Random, html: str, pages: Sequence[str]) -> str:
    return html[: chance.randint(0, len(html))]


def _insert(chance: random.Random, html: str, pages: Sequence[str]) -> str:
    """A tag, once or very often, at a place where one begins."""
    at = html.find("<", chance.randint(0, len(html)))
    tag = chance.choice((f"<{chance.choice(TAGS)}{chance.choice(ATTRIBUTES)}>", f"</{chance.choice(TAGS)}>"))
    return html[:at] + tag * chance.choice((1, 1, 1, 20, 300)) + html[at:]


def _splice(chance: random.Random, html: str, pages: Sequence[str]) -> str:
    """The beginning of a page and the end of another."""
    other = chance.choice(pages) if pages else soup(chance.choice, 200)
    return html[: chance.randint(0, len(html))] + other[chance.randint(0, len(other)) :]


def _rename(chance: random.Random, html: str, pages: Sequence[str]) -> str:
    """All tags of one name get another."""
    old, new = chance.choice(TAGS), chance.choice(TAGS)
    return html.replace(f"<{old} ", f"<{new} ").replace(f"<{old}>", f"<{new}>").replace(f"</{old}>", f"</{new}>")


MUTATIONS: tuple[Mutation, ...] = (_flip, _delete, _double, _move, _truncate, _insert, _insert, _splice, _rename)


def _stretch(chance: random.Random, html: str) -> tuple[int, int]:
    start = chance.randint(0, len(html))
    return start, min(len(html), start + chance.choice((1, 10, 100, 1_000, 10_000)))


def minimise(html: str, fails: Callable[[str], bool]) -> str:
    """Cut out what the failure does not need, in ever smaller stretches, while there is time."""
    end = time.monotonic() + _MINIMISING
    size = len(html) // 2
    while size and time.monotonic() < end:
        at = 0
        while at < len(html) and time.monotonic() < end:
            less = html[:at] + html[at + size :]
            if fails(less):
                html = less
            else:
                at += size
        size //= 2
    return html


if __name__ == "__main__":
    sys.exit(main())
