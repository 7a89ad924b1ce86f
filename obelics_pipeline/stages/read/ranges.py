"""The cut of the input into reading tasks: byte ranges of WARC files, spans of rows of tables."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import ceil
from typing import Any, Literal

from obelics_pipeline.core.config.reading import ReadingConfig
from obelics_pipeline.stages.read.inputs import Inputs, PointerSource, RowsSource, WarcSource
from obelics_pipeline.stages.read.remote import is_remote

PLAIN_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
DIGITS = 12  # of the start in a label, so that labels of one file sort by position


@dataclass(frozen=True)
class ReadTask:
    """One range to read: bytes [start, end) of a WARC file, or rows [start, end) of a pointer table.

    Of a file of documents (`rows`) it is a span of its rows, or, where these are not counted, all its bytes.

    `path` says where it is, `name` what it is called in documents; `size` and `version` are those of the whole file
    at the time of planning. `label` is unique within a plan and safe in file names.
    """

    kind: Literal["warc", "pointers", "rows"]
    path: str
    name: str
    start: int
    end: int
    size: int
    version: str
    label: str

    def to_json(self) -> dict[str, Any]:
        """JSON values from which `from_json` makes the same task."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> ReadTask:
        """The inverse of `to_json`."""
        return cls(**value)


def plan_ranges(inputs: Inputs, config: ReadingConfig) -> list[ReadTask]:
    """Reading tasks in the order of the inputs; cuts are at multiples of `unit_bytes`, `pointer_rows` or `unit_rows`.

    A WARC file without a byte is a task too, so that it is reported as one without a record. An uncompressed
    WARC behind a URL is one task: without reading it from its beginning nobody can tell where its records start.
    """
    tasks = []
    for warc in inputs.warcs:
        whole = is_remote(warc.path) and warc.name.endswith(".warc")
        tasks += _cut("warc", warc, warc.size, warc.size if whole else config.unit_bytes)
    for table in inputs.pointers:
        tasks += _cut("pointers", table, table.rows, config.pointer_rows)
    for file in inputs.rows:
        size = max(file.size, 1)
        total, step = (size, size) if file.rows is None else (file.rows, config.unit_rows)
        tasks += _cut("rows", file, total, step)
    return tasks


def label_of_source(label: str) -> str:
    """The common prefix of the labels of all tasks of one file; tasks of other files have another."""
    return label.rpartition("-")[0]


def sampled(tasks: Sequence[ReadTask], share: float) -> list[ReadTask]:
    """A share of the tasks, above 0 and at most 1, in their order; one at least, where there is one.

    Their labels alone decide which, so that it is the same sample in every run, and a larger one holds a smaller one.
    """
    wanted = ceil(share * len(tasks))
    drawn = sorted(tasks, key=lambda task: hashlib.sha256(task.label.encode()).digest())[:wanted]
    chosen = {task.label for task in drawn}
    return [task for task in tasks if task.label in chosen]


def _cut(
    kind: Literal["warc", "pointers", "rows"],
    source: WarcSource | PointerSource | RowsSource,
    total: int,
    step: int,
) -> list[ReadTask]:
    stem = label_of_name(source.name)
    return [
        ReadTask(
            kind=kind,
            path=source.path,
            name=source.name,
            start=start,
            end=min(start + step, total),
            size=source.size,
            version=source.version,
            label=f"{stem}-{start:0{DIGITS}d}",
        )
        for start in range(0, max(total, 1 if kind == "warc" else 0), max(step, 1))
    ]


def label_of_name(name: str) -> str:
    """What the labels of all tasks of a file begin with, by its name: the base name, with a digest where that alone is
    not unique or not safe.

    It depends on the source's own name only, so that other inputs never change it.
    """
    base = name.rsplit("/", 1)[-1]
    stem = base.removesuffix(".warc.gz")
    if name == base != stem and PLAIN_LABEL.fullmatch(stem):
        return stem
    stem = re.sub(r"\.(warc\.zst|warc\.gz|warc|parquet|jsonl\.gz|jsonl\.zst|jsonl|tar)$", "", base)
    safe = re.sub(r"[^A-Za-z0-9._-]", "_", stem).lstrip(".-")[:48]
    return f"{safe or 'input'}.{hashlib.sha256(name.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}"
