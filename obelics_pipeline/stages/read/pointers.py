"""Reading by pointer: ranged requests of single records, neighbours together, in the order of the table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from obelics_pipeline.core.config.reading import ReadingConfig
from obelics_pipeline.stages.read.listing import resolve_key
from obelics_pipeline.stages.read.opening import read_range
from obelics_pipeline.stages.read.page import Page, Skipped
from obelics_pipeline.stages.read.pointer_table import Pointer, read_rows
from obelics_pipeline.stages.read.response import block_cap, judge
from obelics_pipeline.stages.read.single import record_at

MAX_REQUEST = 16 * 2**20  # bytes asked for at once


def read_pointers(path: str, start: int, end: int, config: ReadingConfig) -> Iterator[Page | Skipped]:
    """One page, or the reason for none, per row of [start, end). Raises OSError where a source cannot be read."""
    for run in _runs(read_rows(path, start, end, config), config):
        yield from _read_run(run, config)


def _runs(pointers: Iterable[Pointer], config: ReadingConfig) -> Iterator[list[Pointer]]:
    """Consecutive rows whose records touch each other in one file, as far as one request reaches."""
    run: list[Pointer] = []
    size = 0
    for pointer in pointers:
        length = pointer.length or 0
        if run and not (_touch(run[-1], pointer) and _usable(pointer, config) and size + length <= MAX_REQUEST):
            yield run
            run, size = [], 0
        run.append(pointer)
        size += length
    if run:
        yield run


def _touch(first: Pointer, second: Pointer) -> bool:
    return (
        first.warc_filename == second.warc_filename
        and first.offset is not None
        and first.length is not None
        and first.offset + first.length == second.offset
    )


def _usable(pointer: Pointer, config: ReadingConfig) -> bool:
    return (
        bool(pointer.warc_filename)
        and pointer.offset is not None
        and pointer.length is not None
        and pointer.offset >= 0
        and 0 < pointer.length <= block_cap(config)
    )


def _read_run(run: list[Pointer], config: ReadingConfig) -> Iterator[Page | Skipped]:
    first, last = run[0], run[-1]
    if not _usable(first, config):
        too_large = first.length is not None and first.length > block_cap(config)
        for pointer in run:
            yield _skip(pointer, "page_too_large", failed=False) if too_large else _skip(pointer, "bad_pointer")
        return
    try:
        path = resolve_key(str(first.warc_filename), config)
    except ValueError:
        yield from (_skip(pointer, "bad_pointer") for pointer in run)
        return
    start, end = int(first.offset or 0), int(last.offset or 0) + int(last.length or 0)
    try:
        data = read_range(path, start, end, config)
    except FileNotFoundError:
        yield from (_skip(pointer, "pointer_not_found") for pointer in run)
        return
    for pointer in run:
        offset, length = int(pointer.offset or 0), int(pointer.length or 0)
        record = record_at(data[offset - start : offset - start + length], offset, path, block_cap(config))
        if isinstance(record, str):
            yield _skip(pointer, record)
        else:
            yield judge(record, str(pointer.warc_filename), config)


def _skip(pointer: Pointer, reason: str, failed: bool = True) -> Skipped:
    return Skipped(reason, failed, pointer.url, pointer.offset, pointer.length)
