"""A corpus of a few pages of text, for runs that take a second."""

from collections.abc import Sequence
from pathlib import Path

from tests.stages.read.warcs import record

SENTENCE = (
    "This is a long enough sentence about the {} that stands in the garden behind the house, and nobody has said how "
    "it came there or who will take it away again when the summer is over."
)
THINGS = ("bench", "ladder", "barrow", "fountain", "statue", "lantern")
SETS = ("fetch.enabled=false", "dedup.enabled=false", "language.min_score=0", "images.min_per_document=0",
        "filters.document={word_count: {min: 10}}")  # fmt: skip


def page(thing: str) -> str:
    return f"<html><body><article><h1>The {thing}</h1><p>{SENTENCE.format(thing)}</p></article></body></html>"


def write_warc(path: Path, things: Sequence[str] = THINGS) -> Path:
    """A WARC file with a page about each thing."""
    records = [record(page(thing).encode(), f"https://pages.example/{thing}") for thing in things]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(records))
    return path


def arguments(inputs: Sequence[object], output: object, *sets: str) -> list[str]:
    """The command line of a run over it, with values of the config."""
    overrides = [x for value in (*SETS, *sets) for x in ("--set", value)]
    return ["run", "default", "--input", *map(str, inputs), "--output", str(output), "--workers", "1", *overrides]
