"""robots.txt as a crawl found it: what a capture of a host's file says of a page.

Common Crawl publishes what it asked for as WARC files of their own (crawl-data/…/robotstxt/*.warc.gz). They are brought
into one table of origins once a run; of several captures of a file the newest counts. RFC 9309: a 4xx allows all; what
came otherwise, or was never asked for, is not known.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from obelics_pipeline.core.code_identity import code_of
from obelics_pipeline.core.commit import note, recall
from obelics_pipeline.core.config.consent import SignalsConfig
from obelics_pipeline.core.config.reading import ReadingConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import Location, draft, draft_for, file_sha256, local_copy, pieces
from obelics_pipeline.core.unit import digest
from obelics_pipeline.net.web_host import in_url, web_host
from obelics_pipeline.stages.read.inputs import resolve_inputs
from obelics_pipeline.stages.read.page import Page, Skipped
from obelics_pipeline.stages.read.ranges import plan_ranges
from obelics_pipeline.stages.read.records import read_task
from obelics_pipeline.stages.read.response import NOT_HTML

if TYPE_CHECKING:
    from protego import Protego

MAX_CHARACTERS = 500 * 2**10  # of a file: RFC 9309 2.5 asks for 500 KiB at least; what follows is not read
ALLOWED, DISALLOWED, UNKNOWN = "allowed", "disallowed", "unknown"
_PORTS = {"http": 80, "https": 443}
_CLIENT_ERROR = re.compile(r"http_4(?!29)\d\d")

Row = tuple[str, str, str | None]  # origin, WARC-Date (empty where it is not known), content (None: not to be had)


@dataclass(frozen=True)
class RobotsCaptures:
    """A table of captures that is ready. `key` says what is in it; `tokens` are the names that it must allow."""

    place: Location
    key: str
    tokens: tuple[str, ...]

    def answer_for(self, url: str) -> tuple[str, str | None]:
        """The rule of a page's host: allowed, disallowed or unknown; and the day of the capture (YYYY-MM-DD)."""
        for origin in _origins(url):
            found = _file(str(_local(self.place, self.key)), origin)
            if found is not None:
                rules, day = found
                free = all(rules.can_fetch(url, token) for token in self.tokens)
                return ALLOWED if free else DISALLOWED, day or None
        return UNKNOWN, None


def captures_of(config: SignalsConfig, reading: ReadingConfig, folder: Location) -> RobotsCaptures | None:
    """The captures that a config names, in a table below `folder`; None where it names none.

    Raises UserError where they cannot be read, or the parser is not installed.
    """
    if not config.robots_txt:
        return None
    if find_spec("protego") is None:
        raise UserError("consent.crawl.robots_txt needs the extra: pip install 'obelics-pipeline[images]'")
    plain = reading.model_copy(update={"mime_types": ("text/plain", "text/html", "application/octet-stream", "")})
    inputs = resolve_inputs(config.robots_txt, plain)
    key = digest(code_of(__name__), [[source.name, source.version, source.size] for source in inputs.warcs])
    target, noted = folder / f"{key}.sqlite", folder / f"{key}.json"
    if not _is_as_noted(target, noted):
        tasks = plan_ranges(inputs, plain)
        with draft(target) as path:
            _write(path, (row for task in tasks for item in read_task(task, plain) if (row := _row(item)) is not None))
        note(noted, file_sha256(target))
    return RobotsCaptures(target, _content_key(target), config.robots_tokens)


def _is_as_noted(table: Location, noted: Location) -> bool:
    """Whether a table is there as it was written: a bit that flips in it may allow what was refused."""
    try:
        return bool(recall(noted) == file_sha256(table))
    except (OSError, ValueError):
        return False


def origins_in(where: Location) -> list[str]:
    """The origins of a table of captures."""
    with local_copy(where) as path, closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as table:
        return [str(origin) for (origin,) in table.execute("SELECT origin FROM robots")]


def _row(item: Page | Skipped) -> Row | None:
    """The row of a record of a robots.txt file; None for other records."""
    if item.url is None or not item.url.partition("?")[0].endswith("/robots.txt"):
        return None
    origin = next(_origins(item.url), None)
    if origin is None:
        return None
    date = item.warc_date or ""
    if isinstance(item, Page):
        return origin, date, item.html[:MAX_CHARACTERS]
    allows_all = item.reason == "empty_body" or item.reason.startswith(NOT_HTML) or _CLIENT_ERROR.fullmatch(item.reason)
    return origin, date, "" if allows_all else None


def _write(path: Path, rows: Iterable[Row]) -> None:
    """The newest capture of each origin; of two at the same moment the greater text, so that the order is nothing."""
    with closing(sqlite3.connect(path)) as table, table:
        table.execute("CREATE TABLE robots (origin TEXT PRIMARY KEY, date TEXT, content TEXT) WITHOUT ROWID")
        table.executemany(
            "INSERT INTO robots VALUES (?, ?, ?) ON CONFLICT (origin) DO UPDATE SET date = excluded.date, "
            "content = excluded.content WHERE (excluded.date, excluded.content) > (robots.date, robots.content)",
            ((origin, date, _storable(content)) for origin, date, content in rows if content is not None),
        )


def _storable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _content_key(where: Location) -> str:
    """Says what is in a table, however it was made."""
    hashed = hashlib.sha256()
    with closing(sqlite3.connect(f"file:{_local(where, where.name)}?mode=ro", uri=True)) as table:
        for row in table.execute("SELECT origin, date, content FROM robots ORDER BY origin"):
            hashed.update("\n".join(row).encode())
    return digest(code_of(__name__), hashed.hexdigest())


def _origins(url: str) -> Iterator[str]:
    """The origin of an address, then the one of the other scheme: one of the two is often a redirect."""
    try:
        parts = urlsplit(url)
        scheme, host, port = parts.scheme.lower(), web_host(parts.hostname or ""), parts.port
    except ValueError:
        return
    if scheme not in _PORTS or not host:
        return
    if port not in (None, _PORTS[scheme]):
        yield f"{scheme}://{in_url(host)}:{port}"
        return
    yield f"{scheme}://{in_url(host)}"
    yield f"{'http' if scheme == 'https' else 'https'}://{in_url(host)}"


@lru_cache(maxsize=512)
def _file(path: str, origin: str) -> tuple[Protego, str] | None:
    """A host's rules, and the day on which they were captured."""
    from protego import Protego

    row: Sequence[str] | None = (
        _table(path).execute("SELECT content, date FROM robots WHERE origin = ?", (origin,)).fetchone()
    )
    if row is None:
        return None
    try:
        return Protego.parse(row[0]), row[1][:10]
    except Exception:  # an untrusted file in a parser that is not ours: unreadable is unavailable
        return Protego.parse(""), row[1][:10]


@lru_cache(maxsize=4)
def _table(path: str) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{path}?mode=ro", uri=True, check_same_thread=False)


@lru_cache(maxsize=4)
def _local(where: Location, _key: str) -> Path:
    """The table as a file of this machine, for as long as the process lives."""
    if isinstance(where, Path):
        return where
    path = draft_for(where.parent, ".sqlite")
    with path.open("xb") as stream:
        for piece in pieces(where):
            stream.write(piece)
    return path
