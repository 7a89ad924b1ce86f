"""The results of reading a record: a page, or the reason why it is not one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Page:
    """One decoded HTML page.

    `offset` and `length` are bytes of the compressed record within `warc_filename`; `ordinal` counts the records that
    share one offset (a WARC compressed as a single gzip member) and is 0 otherwise. `charset_source` is one of
    charset.SOURCES. `html` holds no NUL and no lone surrogate.
    """

    url: str
    warc_filename: str
    offset: int
    length: int
    ordinal: int
    warc_date: str | None
    html: str
    charset: str
    charset_source: str
    content_type: str | None
    x_robots_tag: str | None
    tdm: tuple[tuple[str, str], ...] = ()  # headers about text and data mining, names in lower case


@dataclass(frozen=True, slots=True)
class Skipped:
    """A record, or a damaged piece of a file, that gave no page.

    `failed`: it could not be read, as opposed to dropped by a rule. `counted_only`: a record type that is never a page
    (request, metadata); it counts in the ledger and has no row.
    """

    reason: str
    failed: bool = False
    url: str | None = None
    offset: int | None = None
    length: int | None = None
    counted_only: bool = False
    warc_date: str | None = None
