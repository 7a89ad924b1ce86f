"""A WARC record before anything is made of it, and the gap that a damaged one leaves."""

from __future__ import annotations

from dataclasses import dataclass

TRUNCATED = "truncated_tail"  # the file ends within a record
NO_RECORD = "no_record"  # nothing in the whole file can be read as a record


@dataclass(slots=True)
class RawRecord:
    """One record. `headers` has the lower-case names of fields.LOOKED_AT; of a repeated name the first value counts.

    The block, of `block_length` bytes, is read of responses only, and no further than asked for: `head` is its HTTP
    header with the blank line that ends it, `body` the rest.
    `offset` and `length` are bytes of the compressed record.
    """

    offset: int
    length: int
    ordinal: int
    headers: dict[str, str]
    head: bytes
    body: bytes
    block_length: int


@dataclass(frozen=True, slots=True)
class Gap:
    """A piece of a file that could not be read: `reason` is damaged_member, damaged_record, TRUNCATED or NO_RECORD."""

    offset: int
    length: int
    reason: str


class DamageError(Exception):
    """A compressed member cannot be read on. `truncated`: because the file ends, not because it is wrong."""

    def __init__(self, truncated: bool) -> None:
        super().__init__("truncated" if truncated else "damaged")
        self.truncated = truncated
