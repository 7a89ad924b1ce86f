"""The day on which a page says that it was published."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from itertools import chain

from obelics_pipeline.stages.extract.find import find

EARLIEST = date(1991, 8, 6)  # of the first web page
_SLACK = timedelta(days=1)  # that a page may be ahead of its capture: the date line

# Names and properties of meta elements, in lower case: Open Graph, schema.org, Dublin Core, Parse.ly, Sailthru.
META_NAMES = frozenset(
    {
        *(
            "article:published_time",
            "article:published",
            "og:article:published_time",
            "datepublished",
            "parsely-pub-date",
        ),
        *("dc.date.issued", "dcterms.issued", "dcterms.created", "sailthru.date", "pubdate", "publish-date"),
    }
)
_JSON_LD = re.compile(rb'"datePublished"\s*:\s*"([^"]{4,40})"')
_TIME = re.compile(rb"<time\b([^>]{0,500})>", re.IGNORECASE)
_TELLING = re.compile(rb"\bpubdate\b|datePublished|entry-date|published", re.IGNORECASE)
_DATETIME = re.compile(rb"""datetime\s*=\s*["']?([^"'>\s]{8,40})""", re.IGNORECASE)
_TIMES = 20  # time elements that are looked at


def published(metas: Iterable[str], source: bytes) -> date | None:
    """The day that a meta element says, else JSON-LD, else a time element made for it; None if none of them does.

    `metas` are the contents of those in META_NAMES. A day before EARLIEST does not count.
    """
    days = map(_day, chain(metas, _in_scripts(source), _in_times(source)))
    return next((day for day in days if day is not None and day >= EARLIEST), None)


def is_ahead(day: date, captured: str | None) -> bool:
    """Whether a day is after a page was captured (its WARC-Date), by more than time zones explain."""
    latest = _day(captured or "")
    return latest is not None and day > latest + _SLACK


def _in_scripts(source: bytes) -> Iterable[str]:
    first = find(source, b'"datePublished"', 0)
    if first >= 0:
        found = _JSON_LD.search(source, first)
        if found is not None:
            yield found[1].decode("utf-8", "replace")


def _in_times(source: bytes) -> Iterable[str]:
    position = 0
    for _ in range(_TIMES):
        position = find(source, b"<time", position)
        if position < 0:
            return
        element = _TIME.match(source, position)
        position += 5
        if element is not None and _TELLING.search(element[1]):
            found = _DATETIME.search(element[1])
            if found is not None:
                yield found[1].decode("utf-8", "replace")


def _day(text: str) -> date | None:
    """The day of an ISO 8601 date or time, in UTC where it has a zone."""
    try:
        moment = datetime.fromisoformat(text.strip())
        return (moment.astimezone(UTC) if moment.tzinfo else moment).date()
    except (ValueError, OverflowError):
        return None
