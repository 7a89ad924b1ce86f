"""One reading task: from a byte range, or a span of pointers, to pages and the reasons for what is none."""

from __future__ import annotations

from collections.abc import Iterator

from obelics_pipeline.config.reading import ReadingConfig
from obelics_pipeline.read.framing import framing_of
from obelics_pipeline.read.opening import open_source
from obelics_pipeline.read.page import Page, Skipped
from obelics_pipeline.read.pointers import read_pointers
from obelics_pipeline.read.ranges import ReadTask
from obelics_pipeline.read.raw_record import Gap, RawRecord
from obelics_pipeline.read.response import block_cap, judge
from obelics_pipeline.read.source import Source
from obelics_pipeline.read.walk import walk_members, walk_plain


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
    """Records and gaps of a byte range, whatever the file's compression."""
    framing = framing_of(source, 0, path)
    return walk_members(source, framing, start, end, cap) if framing else walk_plain(source, start, end, cap)
