"""Rows of a file of JSON Lines, plain, gzip or zstd by its first bytes; one line in memory at a time."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import zstandard

from obelics_pipeline.core.ranged import Ranged
from obelics_pipeline.core.storage import Location, size_of
from obelics_pipeline.stages.rows.files.raw_row import MayRead, RawRow
from obelics_pipeline.stages.rows.files.zstd_stream import ZstdStream
from obelics_pipeline.stages.rows.row_error import (
    NOT_JSON,
    NOT_UTF8,
    TOO_LARGE,
    UNREADABLE_REST,
    WORKER_DIED,
    RowError,
)

MAX_LINE = 256 * 2**20  # bytes: an image in base64 takes a third more than its own
MAX_INFLATED = 256 * 2**30  # bytes of a file: what inflates to more is taken for a trap
PIECE = 1 << 20  # bytes of a line that is too long, read at a time
READ_AHEAD = 8 * 2**20  # bytes of one request to an object store
BOM, SPACE = b"\xef\xbb\xbf", b" \t\r\n"
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


def json_lines(where: Location, may_read: MayRead) -> Iterator[RawRow]:
    """A row per line that is not blank. Raises OSError where the file cannot be opened, or a store does not answer."""
    number = inflated = 0
    with ExitStack() as stack:
        stream = _opened(where, stack)
        while True:
            try:
                line = stream.readline(MAX_LINE + 1)
                long = len(line) > MAX_LINE and not line.endswith(b"\n")
                inflated += len(line) + (_rest(stream) if long else 0)
            except (EOFError, zlib.error, gzip.BadGzipFile, zstandard.ZstdError) as error:
                yield RawRow(number, RowError(UNREADABLE_REST, str(error)[:100]))
                return
            if not line:
                return
            if inflated > MAX_INFLATED:
                yield RawRow(number, RowError(UNREADABLE_REST, f"inflates to more than {MAX_INFLATED:,} bytes"))
                return
            line = line.removeprefix(BOM) if number == 0 else line
            if long:
                yield RawRow(number, RowError(TOO_LARGE, f"more than {MAX_LINE:,} bytes"))
            elif line := line.strip(SPACE):
                yield RawRow(number, parsed(line) if may_read(number) else RowError(WORKER_DIED, ""))
            else:
                continue
            number += 1


def parsed(data: bytes) -> Mapping[str, Any] | RowError:
    """The object that bytes are the JSON of."""
    try:
        value = json.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        return RowError(NOT_UTF8, f"byte {error.start}")
    except (ValueError, RecursionError) as error:
        return RowError(NOT_JSON, str(error)[:100])
    return value if isinstance(value, dict) else RowError(NOT_JSON, "not an object")


def _opened(where: Location, stack: ExitStack) -> io.BufferedIOBase:
    raw: io.BufferedReader
    if isinstance(where, Path):
        raw = where.open("rb")
    else:
        size = size_of(where)
        if size is None:
            raise FileNotFoundError(str(where))
        raw = io.BufferedReader(Ranged(where, size), READ_AHEAD)
    stack.enter_context(raw)
    begins = raw.peek(4)[:4]
    if begins.startswith(GZIP):
        return stack.enter_context(gzip.GzipFile(fileobj=raw))
    if begins == ZSTD:
        return io.BufferedReader(ZstdStream(raw), PIECE)
    return raw


def _rest(stream: io.BufferedIOBase) -> int:
    """Skip to the end of a line; how many bytes that was."""
    skipped = 0
    while piece := stream.readline(PIECE):
        skipped += len(piece)
        if piece.endswith(b"\n") or skipped > MAX_INFLATED:
            break
    return skipped
