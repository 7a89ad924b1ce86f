"""The one record that a pointer points at."""

from __future__ import annotations

from obelics_pipeline.stages.read.fields import is_response
from obelics_pipeline.stages.read.framing import framing_of
from obelics_pipeline.stages.read.member import is_record
from obelics_pipeline.stages.read.plain import plain_records
from obelics_pipeline.stages.read.raw_record import RawRecord
from obelics_pipeline.stages.read.source import BytesSource
from obelics_pipeline.stages.read.walk import careful_member


def record_at(data: bytes, offset: int, path: str, cap: int) -> RawRecord | str:
    """The record in `data`, which begins at `offset` of the file at `path`: the first response, else the first record.

    Returns a string, the reason, if there is no such record.
    """
    source = BytesSource(data, offset)
    framing = framing_of(source, offset, path)
    if framing is None:
        items = plain_records(source, offset, cap, complete=False)
    elif is_record(source, framing, offset):
        items = careful_member(source, framing, offset, cap)
    else:
        return "no_record_at_pointer"
    first: RawRecord | None = None
    for item in items:
        if not isinstance(item, RawRecord):
            return item.reason if first is None else first
        if is_response(item.headers):
            return item
        first = first or item
    return first or "no_record_at_pointer"
