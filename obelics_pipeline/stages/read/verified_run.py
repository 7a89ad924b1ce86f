"""The fast way through a .warc.gz: FastWARC iterates, and the gzip trailers confirm what it says.

FastWARC alone cannot be trusted at damage: an error names the wrong record, a Content-Length that is too large
swallows the following members and looks good, a cut file gives no error, and records within one member get wrong
offsets. Each gzip member ends with the size it inflates to; where that is exactly the size of one record of the
declared length, the record is what it claims to be. The first that is not ends the run, and is read the careful way.
"""

from __future__ import annotations

from collections.abc import Generator

import fastwarc

from obelics_pipeline.stages.read.fields import is_response, parse_fields
from obelics_pipeline.stages.read.gzip_members import GzipFraming
from obelics_pipeline.stages.read.raw_record import RawRecord
from obelics_pipeline.stages.read.source import Cursor, Source

LEAST = 18  # bytes of a gzip member without content
LINE_PIECE = 8192  # bytes of a header line read at a time
RECORD_END = b"\r\n\r\n"
UNREAD = {  # record types of which nobody reads the header
    int(fastwarc.WarcRecordType.request): {"warc-type": "request"},
    int(fastwarc.WarcRecordType.metadata): {"warc-type": "metadata"},
}


def verified_run(source: Source, start: int, end: int, cap: int) -> Generator[RawRecord, None, int]:
    """Yield records from the member at `start` on while they are sound and begin before `end`.

    Returns the position to go on from: a record at or after `end`, or a member to be read the careful way (the last
    of the file always is one). Raises OSError where the source cannot be read.
    """
    pending: RawRecord | None = None
    position = start
    try:
        for record in fastwarc.ArchiveIterator(Cursor(source, start), parse_http=False):
            following = record.stream_pos
            if pending is not None:
                if following < position + LEAST or source.at(following - 4, 7) != _trailer(pending) + GzipFraming.magic:
                    return position
                pending.length = following - position
                yield pending
                position = following
            if following != position or position >= end:
                return position
            pending = _take(record, cap)
    except (KeyboardInterrupt, SystemExit, MemoryError, GeneratorExit):
        raise
    except BaseException:  # a panic of FastWARC is no Exception
        if source.failure is not None:
            raise source.failure from None
    return position


def _take(record: fastwarc.WarcRecord, cap: int) -> RawRecord:
    """The record with what is read of its block; until its end is known, `length` is the size it should inflate to."""
    declared = record.content_length
    text = str(record.headers)
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    headers = UNREAD.get(int(record.record_type))
    if headers is None:
        headers = parse_fields(text)
    head = body = b""
    if is_response(headers):
        head, body = _read_block(record.reader, min(declared, cap))
    return RawRecord(record.stream_pos, size + declared + len(RECORD_END), 0, headers, head, body, declared)


def _trailer(record: RawRecord) -> bytes:
    """How a gzip member ends that holds exactly this record: the size that it inflates to."""
    return (record.length & 0xFFFFFFFF).to_bytes(4, "little")


def _read_block(reader: fastwarc.warc.WarcRecordPayloadReader, count: int) -> tuple[bytes, bytes]:
    """The parts of `split_head` for the first `count` bytes of a block, without a copy of the body."""
    lines: list[bytes] = []
    left = count
    ended = True
    while left > 0:
        line = reader.readline(min(left, LINE_PIECE))
        if not line:
            break
        lines.append(line)
        left -= len(line)
        if ended and line in (b"\r\n", b"\n"):
            break
        ended = line.endswith(b"\n")
    return b"".join(lines), reader.read(left) if left > 0 else b""
