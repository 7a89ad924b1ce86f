"""Records of a byte range of a WARC file: each record of the file is in exactly one range, whatever the cuts.

A walk goes from member to member. One that meets something other than a member reports the gap and goes on at the
next member that begins like a WARC record. A range owns the members that begin in it, and the gap after the last of
them; so a walk from the middle of a file starts at the first member it finds and leaves what is before it to others.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace

from obelics_pipeline.stages.read.gzip_members import GzipFraming
from obelics_pipeline.stages.read.member import (
    Framing,
    Member,
    ends_early,
    find_record,
    is_record,
    open_member,
    padding_end,
)
from obelics_pipeline.stages.read.plain import plain_records
from obelics_pipeline.stages.read.raw_record import TRUNCATED, DamageError, Gap, RawRecord
from obelics_pipeline.stages.read.source import Source
from obelics_pipeline.stages.read.verified_run import verified_run

MAX_PATIENCE = 1024  # members read the careful way before the fast way is tried again


def walk_members(source: Source, framing: Framing, start: int, end: int, cap: int) -> Iterator[RawRecord | Gap]:
    """Records and gaps of [start, end) of a compressed WARC file; at most `cap` bytes of a block are read."""
    position = start if start == 0 else find_record(source, framing, start, min(end, source.size))
    if position >= end:
        return
    careful, patience = 0, 1
    while position < source.size:
        if not is_record(source, framing, position):
            padding = padding_end(source, framing, position)
            if padding is None:
                gap = _gap(source, framing, position)
                yield gap
                padding = gap.offset + gap.length
            position = padding
            continue
        if position >= end:
            return
        if careful == 0 and isinstance(framing, GzipFraming):
            reached = yield from verified_run(source, position, end, cap)
            careful, patience = (1, 1) if reached > position else (patience, min(2 * patience, MAX_PATIENCE))
            position = reached
            continue
        careful -= 1 if careful else 0
        position = yield from careful_member(source, framing, position, cap)


def walk_plain(source: Source, start: int, end: int, cap: int) -> Iterator[RawRecord | Gap]:
    """Records and gaps of [start, end) of an uncompressed WARC file.

    Nothing in the bytes tells a record's beginning from a page that imitates one, so the walk hops from the first
    record of the file, header by header, to its range.
    """
    position = 0
    if start > 0:
        for item in plain_records(source, 0, 0, complete=False):
            position = item.offset + item.length
            if position >= start:
                break
    for item in plain_records(source, position, cap, complete=False):
        if item.offset >= end:
            return
        if item.offset >= start:
            yield item


def _gap(source: Source, framing: Framing, position: int) -> Gap:
    """The unreadable bytes from `position` to the next record."""
    following = find_record(source, framing, position + 1, source.size)
    cut = following == source.size and ends_early(source, framing, position)
    return Gap(position, following - position, TRUNCATED if cut else "damaged_member")


def careful_member(source: Source, framing: Framing, position: int, cap: int) -> Generator[RawRecord | Gap, None, int]:
    """Records of the member at `position`, after it was inflated to its end; returns where to go on."""
    member = open_member(source, framing, position)
    if member.damage is not None:
        return (yield from _damaged_member(source, framing, position, member, cap))
    length = member.end - position
    ordinal = 0
    for item in plain_records(member.content, 0, cap, complete=True):
        if isinstance(item, Gap):
            yield Gap(position, length, "damaged_record")
        else:
            yield replace(item, offset=position, length=length, ordinal=ordinal)
            ordinal += 1
    return member.end


def _damaged_member(
    source: Source, framing: Framing, position: int, member: Member, cap: int
) -> Generator[RawRecord | Gap, None, int]:
    """Of a damaged member, the records that are followed by another one; the last one met is lost with the rest."""
    following = find_record(source, framing, position + 1, source.size)
    length = following - position
    pending: RawRecord | None = None
    ordinal = 0
    try:
        for item in plain_records(member.content, 0, cap, complete=False):
            if pending is not None:
                yield replace(pending, offset=position, length=length, ordinal=ordinal)
                ordinal += 1
            pending = item if isinstance(item, RawRecord) else None
    except DamageError:
        pass
    truncated = member.damage is not None and member.damage.truncated and following == source.size
    yield Gap(position, length, TRUNCATED if truncated else "damaged_member")
    return following
