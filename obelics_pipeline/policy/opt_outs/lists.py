"""Opt-out lists as tables of hashes: made once for a run, mapped by its workers."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from obelics_pipeline.core.config.consent import OptOutListConfig, Subject
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import Location, file_sha256, location
from obelics_pipeline.core.unit import digest
from obelics_pipeline.net.page_url import normalise
from obelics_pipeline.net.registered_domain import is_public_suffix, plain_host, with_parents
from obelics_pipeline.net.web_host import MAX_HOST
from obelics_pipeline.policy.lists.table import Damaged, Table, TableWriter
from obelics_pipeline.policy.opt_outs.list_file import MAX_LINE, entries

VERSION = 2  # raise it when the same file would give other entries
OPT_OUT = "opt_out_"  # begins the reason of what a list drops

_SHA256 = re.compile(r"[0-9a-fA-F]{64}")


@dataclass(frozen=True)
class OptOutList:
    """An opt-out list that is ready for use. `key`: identity of its content. `place`: its table. The counts are of the
    file's lines, `sha256` is of the file.
    """

    name: str
    kind: str
    of: tuple[Subject, ...]
    key: str
    place: Location
    sha256: str
    entries: int
    bad: int


class OptOuts:
    """The lists of a run, in the config's order: the first that has something names the reason."""

    def __init__(self, lists: tuple[OptOutList, ...] = ()) -> None:
        self.lists = lists

    def identity(self, subject: Subject) -> list[list[str]]:
        """The identity of lists for verdicts about pages, or about images: their contents, not their paths."""
        return [[entry.name, entry.kind, entry.key] for entry in self.lists if subject in entry.of]

    def lines(self) -> list[str]:
        """One line per list, for a person: what is in it."""
        return [
            f"opt-out list {entry.name}: {entry.entries:,} {entry.kind}"
            + (f"; {entry.bad:,} lines are no entries and are skipped" if entry.bad else "")
            for entry in self.lists
        ]

    def read_lists(self) -> dict[str, dict[str, Any]]:
        """For the reason of each list: the sha256 of what was read, and the number of its entries."""
        return {OPT_OUT + entry.name: {"sha256": entry.sha256, "entries": entry.entries} for entry in self.lists}

    def page_reason(self, url: str) -> str | None:
        """The reason to drop a page by its address, or None."""
        return self._url_reason(url, "pages")

    def image_reason(self, url: str) -> str | None:
        """The reason not to ask for an image, by its address, or None."""
        return self._url_reason(url, "images")

    def content_reason(self, sha256: str) -> str | None:
        """The reason to drop an image by its bytes, or None."""
        return self._reason("images", {"hashes": [sha256]})

    def _url_reason(self, url: str, subject: Subject) -> str | None:
        kinds = {entry.kind for entry in self.lists if subject in entry.of}
        if not kinds:
            return None
        wanted: dict[str, Iterable[str]] = {}
        normal = normalise(url) if kinds & {"urls", "hashes"} else url
        if "urls" in kinds:
            wanted["urls"] = [normal]
        if "hashes" in kinds:
            wanted["hashes"] = [_sha256(url), _sha256(normal)]
        if "domains" in kinds:
            wanted["domains"] = list(with_parents(_host_of(url)))
        return self._reason(subject, wanted)

    def _reason(self, subject: Subject, wanted: Mapping[str, Iterable[str]]) -> str | None:
        for entry in self.lists:
            if subject in entry.of and entry.kind in wanted:
                table = _opened(entry.place, entry.key)
                if any(name in table for name in wanted[entry.kind]):
                    return OPT_OUT + entry.name
        return None


NO_LISTS = OptOuts()


def prepare(
    lists: Mapping[str, OptOutListConfig], folder: Location, options: Mapping[str, Mapping[str, Any]]
) -> OptOuts:
    """Read the lists of a config into tables below `folder`, those that are not there yet.

    `options` are those of fsspec's file systems. Raises UserError for a list that cannot be read, is not what it should
    be by its sha256, or in which no line is an entry.
    """
    return OptOuts(tuple(_prepared(name, entry, folder, options) for name, entry in lists.items()))


def _prepared(
    name: str, config: OptOutListConfig, folder: Location, options: Mapping[str, Mapping[str, Any]]
) -> OptOutList:
    where = location(config.path, options)
    try:
        sha256 = file_sha256(where)
    except OSError as error:
        why = error.strerror or type(error).__name__
        what = f"consent.lists.{name}: {config.path} cannot be read ({why})"
        raise UserError(f"{what}; give a file that is there") from None
    if config.sha256 is not None and sha256 != config.sha256:
        raise UserError(
            f"consent.lists.{name}: {config.path} has the sha256 {sha256}, not {config.sha256}; get it again, or "
            "change sha256 if the list was renewed"
        )
    key = digest(VERSION, sha256, config.kind, config.column, _form(config.path))
    target = folder / f"{key}.table"
    try:
        counts = _opened(target, key).counts
    except (Damaged, FileNotFoundError):
        _compile(name, where, config, target)
        counts = _opened(target, key).counts
    return OptOutList(name, config.kind, config.of, key, target, sha256, counts.entries, counts.bad_lines)


def _form(path: str) -> str:
    """How a file is read, by the end of its name."""
    return "".join(re.findall(r"\.(?:parquet|pq|jsonl|ndjson|json|gz|zst)(?=\.|$)", path.lower())[-2:])


def _compile(name: str, where: Location, config: OptOutListConfig, target: Location) -> None:
    name_of = {"urls": _url_entry, "domains": _domain_entry, "hashes": _hash_entry}[config.kind]
    writer, lines, bad = TableWriter(), 0, 0
    for entry in entries(where, config):
        lines += 1
        listed = name_of(entry) if entry is not None and len(entry) <= MAX_LINE else None
        if listed is None:
            bad += 1
        else:
            writer.add([listed])
    if bad and bad == lines:
        raise UserError(f"consent.lists.{name}: none of the {bad:,} lines of {config.path} is one of {config.kind}")
    writer.write(target, lines, bad)


def _url_entry(entry: str) -> str | None:
    normal = normalise(entry if "://" in entry else f"http://{entry}")
    return normal if normal.startswith("http://") and "." in normal.split("/")[2] else None


def _domain_entry(entry: str) -> str | None:
    host = _host_of(entry) if "://" in entry else _plain(entry.removeprefix("*.").strip("."))
    return None if not host or is_public_suffix(host) else host


def _hash_entry(entry: str) -> str | None:
    text = entry.lower().removeprefix("sha256:")
    return text if _SHA256.fullmatch(text) else None


def _sha256(url: str) -> str:
    return hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest()


@lru_cache(maxsize=16_384)
def _host_of(url: str) -> str:
    try:
        return _plain(urlsplit(url).hostname or "")
    except ValueError:
        return ""


def _plain(host: str) -> str:
    """A host as it is compared; empty for what can be none."""
    return plain_host(host) if len(host) <= MAX_HOST else ""


@lru_cache(maxsize=64)
def _opened(where: Location, _key: str) -> Table:
    return Table(where)
