"""What people say is right about pages: the rows of a gold file (docs/extraction.md, "Fitting the model")."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.page_type import KINDS
from obelics_pipeline.stages.read.page import Page

_ADDRESS = "a row names its page by warc and offset, or by url"


@dataclass(frozen=True, slots=True)
class Truth:
    """What is known of a page: its whole article, or snippets that its main content has or has not; its kind."""

    article: str | None
    wanted: tuple[str, ...] = ()
    unwanted: tuple[str, ...] = ()
    page_type: str | None = None


@dataclass(frozen=True, slots=True)
class _Row:
    line: int
    url: str | None
    truth: Truth


@dataclass(frozen=True, slots=True)
class Gold:
    """The rows of a gold file by the page they are of."""

    path: Path
    by_place: dict[tuple[str, int], list[_Row]] = field(default_factory=dict)
    by_url: dict[str, list[_Row]] = field(default_factory=dict)

    def find(self, page: Page) -> Truth | None:
        """What is known of a page. Raises UserError if two rows are of it."""
        rows = self.by_place.get((_base(page.warc_filename), page.offset)) or self.by_url.get(page.url) or []
        if len(rows) > 1:  # records of one gzip member share its offset
            rows = [row for row in rows if row.url == page.url]
        if len(rows) > 1:
            lines = " and ".join(str(row.line) for row in rows[:2])
            raise UserError(f"{self.path}: lines {lines} are of one page, {page.url}; keep one of them")
        return rows[0].truth if rows else None


def read_gold(path: Path) -> Gold:
    """Read a gold file. Raises UserError, in one line, for what cannot be read and for the first bad row."""
    try:
        lines = path.read_text("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read as gold ({error})") from None
    gold = Gold(path)
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                _add(gold, number, json.loads(line))
            except (ValueError, RecursionError) as error:
                raise UserError(f"{path}:{number}: {error}") from None
    return gold


def _add(gold: Gold, number: int, row: Any) -> None:
    if not isinstance(row, dict):
        raise ValueError(f"a row is a JSON object, not {_kind(row)}")
    url = _text(row, "url")
    found = _Row(number, url, _truth(row))
    warc, offset = _text(row, "warc"), row.get("offset")
    if warc is not None and type(offset) is int:
        gold.by_place.setdefault((_base(warc), offset), []).append(found)
    elif offset is not None and type(offset) is not int:
        raise ValueError(f"offset is a whole number, not {_kind(offset)}")
    elif url is not None:
        gold.by_url.setdefault(url, []).append(found)
    else:
        raise ValueError(_ADDRESS)


def _truth(row: dict[str, Any]) -> Truth:
    texts = _text(row, "article_text"), _texts(row, "must_contain"), _texts(row, "must_not_contain")
    truth = Truth(*texts, _text(row, "page_type"))
    if truth.page_type is not None and truth.page_type not in KINDS:
        raise ValueError(f"page_type is {', '.join(KINDS[:-1])} or {KINDS[-1]}, not {truth.page_type}")
    if truth == Truth(None):
        raise ValueError("neither article_text nor a snippet in must_contain or must_not_contain, nor page_type")
    return truth


def _text(row: dict[str, Any], key: str) -> str | None:
    value = row.get(key)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{key} is a text, not {_kind(value)}")
    return value


def _texts(row: dict[str, Any], key: str) -> tuple[str, ...]:
    value = row.get(key)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"{key} is a list of texts")
    return tuple(value)


def _kind(value: object) -> str:
    kinds = {
        bool: "true or false",
        int: "a number",
        float: "a number",
        str: "a text",
        list: "a list",
        dict: "an object",
    }
    return kinds.get(type(value), "null")


def _base(warc: str) -> str:
    return warc.rsplit("/", 1)[-1]
