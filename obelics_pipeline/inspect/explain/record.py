"""One record read again: from a WARC file at an offset or by its URL, or a page that lies in a file of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from obelics_pipeline.core.config.reading import ReadingConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.stages.read.charset import decode_html
from obelics_pipeline.stages.read.fields import is_response
from obelics_pipeline.stages.read.inputs import WARC_SUFFIXES
from obelics_pipeline.stages.read.listing import expand, resolve_key
from obelics_pipeline.stages.read.opening import file_facts, open_source
from obelics_pipeline.stages.read.page import Page, Skipped
from obelics_pipeline.stages.read.pointer_table import count_rows, read_rows
from obelics_pipeline.stages.read.raw_record import Gap, RawRecord
from obelics_pipeline.stages.read.records import raw_records
from obelics_pipeline.stages.read.response import block_cap, judge, target_uri

NO_ADDRESS = "https://page.example/"  # of a page in a file, unless one is given; the name is reserved (RFC 2606)
_SHOWN = 3  # pages of a WARC file that are named to a person who named none


def is_warc(path: str) -> bool:
    """Whether a path or URL is that of a WARC file, by its name."""
    return path.partition("?")[0].lower().endswith(WARC_SUFFIXES)


def find_warc(name: str, patterns: Sequence[str], config: ReadingConfig) -> str:
    """Where the WARC file is that documents call `name`, among what the patterns (as `run --input` takes) name.

    A file of the same base name will do where the whole name differs, as after a move. Raises UserError, in one line,
    where it is nowhere.
    """
    moved = None
    for pattern in patterns:
        try:
            for found in expand(pattern, config):
                if found.name == name:
                    return found.path
                if found.name.endswith(".parquet") and not name.endswith(".parquet"):
                    return resolve_key(name, config)
                if os.path.basename(found.name) == os.path.basename(name):
                    moved = moved or found.path
        except (UserError, ValueError):
            continue
    if moved is None:
        where = ", ".join(patterns[:3]) or "nothing"
        raise UserError(f"{name}: this WARC file is missing, not in {where}; say where it is now: --input FILE")
    return moved


def pointed_at(table: str, url: str | None, offset: int, config: ReadingConfig) -> str:
    """The WARC file that a pointer table names for a URL and an offset. Raises UserError where it names none.

    Of a record that gave no page a run notes the table that it was read by.
    """
    for pointer in read_rows(table, 0, count_rows(table, config), config):
        if (pointer.url, pointer.offset) == (url, offset) and pointer.warc_filename:
            return pointer.warc_filename
    raise UserError(f"{table}: no row with byte {offset} and {url}; the table is not the one that was read")


def record_at(path: str, name: str, offset: int, url: str | None, config: ReadingConfig) -> Page | Skipped:
    """The record at an offset of a WARC file that documents call `name`, or the reason why it is no page.

    Of several with this offset the one of `url`, or the first page if None. Raises UserError if no record is there.
    """
    first: Page | Skipped | None = None
    for item in _records(path, offset, offset + 1, config):
        found = _judged(item, name, config)
        if found.url == url or (url is None and isinstance(found, Page)):
            return found
        first = first or found
    if first is None or url is not None:
        what = "no record begins here" if first is None else f"the record here is of {first.url}, not of {url}"
        raise UserError(f"{path}: byte {offset}: {what}; the file is not the one that was read, or give another offset")
    return first


def record_of(path: str, which: str | None, config: ReadingConfig) -> Page | Skipped:
    """The record of a WARC file that has an offset or a URL; its only page if None.

    Raises UserError if no record fits, or several do.
    """
    name = next(found.name for found in expand(path, config))
    if which is not None and which.isascii() and which.isdigit():
        return record_at(path, name, int(which), None, config)
    pages: list[Page] = []
    size, _ = file_facts(path, config)
    for item in _records(path, 0, size, config):
        if which is not None:
            if isinstance(item, RawRecord) and target_uri(item) == which and is_response(item.headers):
                return judge(item, name, config)
        elif isinstance(found := _judged(item, name, config), Page):
            pages.append(found)
            if len(pages) > _SHOWN:
                break
    if which is not None:
        raise UserError(f"{which}: no response of this URL in {path}; give a URL, letter by letter, or a byte offset")
    if len(pages) != 1:
        named = ", ".join(f"{page.offset} {page.url}" for page in pages[:_SHOWN])
        raise UserError(
            f"{path}: say which page, by URL or offset; the first are: {named}" if pages else f"{path}: no page in it"
        )
    return pages[0]


def page_in_file(path: Path, url: str | None, config: ReadingConfig) -> Page:
    """The page that a file holds, its charset found as for a response without a header. Raises UserError."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    if len(data) > config.max_page_bytes:
        raise UserError(f"{path}: {len(data):,} bytes; a page has at most {config.max_page_bytes:,}")
    decoded = decode_html(data, None)
    return Page(
        url=url or NO_ADDRESS,
        warc_filename=path.name,
        offset=0,
        length=len(data),
        ordinal=0,
        warc_date=None,
        html=decoded.text,
        charset=decoded.charset,
        charset_source=decoded.source,
        content_type=None,
        x_robots_tag=None,
    )


def _records(path: str, start: int, end: int, config: ReadingConfig) -> Iterator[RawRecord | Gap]:
    try:
        source = open_source(path, start, end, config)
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}") from None
    try:
        yield from raw_records(source, path, start, end, block_cap(config))
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}") from None
    finally:
        source.close()


def _judged(item: RawRecord | Gap, name: str, config: ReadingConfig) -> Page | Skipped:
    if isinstance(item, Gap):
        return Skipped(item.reason, failed=True, offset=item.offset, length=item.length)
    return judge(item, name, config)
