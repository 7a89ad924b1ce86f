"""One reading task: from a byte range, or a span of pointers, to pages, and the reasons against other records."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from obelics_pipeline.core.config.reading import ReadingConfig
from obelics_pipeline.stages.read.framing import framing_of
from obelics_pipeline.stages.read.opening import open_source
from obelics_pipeline.stages.read.page import Page, Skipped
from obelics_pipeline.stages.read.pointers import read_pointers
from obelics_pipeline.stages.read.ranges import ReadTask
from obelics_pipeline.stages.read.raw_record import NO_RECORD, TRUNCATED, Gap, RawRecord
from obelics_pipeline.stages.read.response import block_cap, judge
from obelics_pipeline.stages.read.source import Source
from obelics_pipeline.stages.read.walk import walk_members, walk_plain


def read_task(task: ReadTask, config: ReadingConfig) -> Iterator[Page | Skipped]:
    """Pages and skipped records of a task, in the order of the file (or of the pointer table).

    Over all tasks of a plan each record comes exactly once. Raises OSError where a source cannot be read.
    """
    if task.kind == "pointers":
        yield from read_pointers(task.path, task.start, task.end, config)
        return
    source = open_source(task.path, task.start, task.end, config, task.size)
    try:
        for item in raw_records(source, task.path, task.start, task.end, block_cap(config)):
            if isinstance(item, Gap):
                yield Skipped(item.reason, failed=True, offset=item.offset, length=item.length)
            else:
                yield judge(item, task.name, config)
    finally:
        source.close()


def raw_records(source: Source, path: str, start: int, end: int, cap: int) -> Iterator[RawRecord | Gap]:
    """Records and gaps of a byte range, whatever the file's compression; one gap for a file that has no record."""
    framing = framing_of(source, 0, path)
    items = walk_members(source, framing, start, end, cap) if framing else walk_plain(source, start, end, cap)
    return _not_without_a_record(items, source.size, whole=start == 0 and end >= source.size)


def _not_without_a_record(items: Iterator[RawRecord | Gap], size: int, whole: bool) -> Iterator[RawRecord | Gap]:
    """The same items, but where they say that a file of `size` bytes has no record. `whole`: they are all of a file."""
    first = next(items, None)
    if first is None:
        if whole:
            yield Gap(0, size, NO_RECORD)
        return
    lost = isinstance(first, Gap) and first.length >= size and first.reason != TRUNCATED
    yield from chain([Gap(0, size, NO_RECORD) if lost else first], items)
