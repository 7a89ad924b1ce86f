"""The lists of a config, opened: built from what they are read from once per machine, then mapped by all processes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from obelics_pipeline.core.config.blocklists import Applies, BlocklistConfig
from obelics_pipeline.core.config.fetching import FetchingConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.unit import digest
from obelics_pipeline.net.registered_domain import site_of_host, with_parents
from obelics_pipeline.policy.blocklists.download import download
from obelics_pipeline.policy.blocklists.entry import entries_of, host_and_path
from obelics_pipeline.policy.blocklists.source import ListSource
from obelics_pipeline.policy.lists.table import MAX_ENTRIES, Damaged, Table, TableWriter

VERSION = 2  # raise it when the same lines would give another table
REASON = "blocked_domain_"  # begins a reason; the name of the list ends it
MAX_SEGMENTS = 32  # of a path that are looked up, as prefixes


class Blocklists:
    """Which list has a URL, if any. Thread-safe."""

    def __init__(self, tables: Sequence[tuple[str, Table, Sequence[Applies]]]) -> None:
        """Lists by name, with what each applies to; the first that has a URL is named."""
        self._tables: dict[Applies, list[tuple[str, Table]]] = {
            what: [(name, table) for name, table, applies_to in tables if what in applies_to]
            for what in ("pages", "images")
        }

    def reason(self, url: str, what: Applies) -> str | None:
        """Why a page or an image of this URL is not taken: the name of the first list that has it. None: no list."""
        tables = self._tables[what]
        if not tables:
            return None
        cut = host_and_path(url)
        if cut is None:
            return None
        host, path = cut
        for name, table in tables:
            if blocks_host(table, host) or (table.counts.urls and path and _blocks_path(table, host, path)):
                return REASON + name
        return None

    def applies_to_images(self) -> bool:
        """Whether there is anything to look for among images."""
        return bool(self._tables["images"])


def blocks_host(table: Table, host: str) -> bool:
    """Whether a list has a host, or a domain above it that somebody registered.

    An entry that is a public suffix, such as co.uk or blogspot.com, blocks the host of that name alone: what strangers
    keep below it is theirs.
    """
    listed = next((name for name in with_parents(host) if name in table), None)
    return listed is not None and (listed == host or len(listed) >= len(site_of_host(host)))


def _blocks_path(table: Table, host: str, path: str) -> bool:
    hosts = [host, host.removeprefix("www.")] if host.startswith("www.") else [host]
    before, mark, query = path.partition("?")
    segments = before.split("/")[1 : MAX_SEGMENTS + 1]
    for name in hosts:
        prefix = name
        if mark and f"{name}{before}?{query}" in table:
            return True
        for segment in segments:
            prefix = f"{prefix}/{segment}"
            if prefix in table:
                return True
    return False


def identity(blocklists: Mapping[str, BlocklistConfig]) -> list[Any]:
    """The identity of lists, by their contents and what they apply to, not by their paths.

    Raises UserError for a list that is missing or has another checksum than the config names.
    """
    return [[name, _content(config), sorted(config.applies_to)] for name, config in blocklists.items()]


def open_lists(blocklists: Mapping[str, BlocklistConfig], fetching: FetchingConfig) -> Blocklists:
    """Open the lists of a config, fetching and building what this machine has not yet. Raises UserError."""
    return Blocklists([(name, _table(config, fetching), config.applies_to) for name, config in blocklists.items()])


def read_lists(blocklists: Mapping[str, BlocklistConfig], fetching: FetchingConfig) -> dict[str, dict[str, Any]]:
    """For the reason of each list: the sha256 of what was read, and the number of its entries."""
    return {
        REASON + name: {"sha256": _checksum(config), "entries": _table(config, fetching).counts.entries}
        for name, config in blocklists.items()
    }


def notices(blocklists: Mapping[str, BlocklistConfig], fetching: FetchingConfig) -> list[str]:
    """A line for each list: how much it has, and what of it could not be read."""
    lines = []
    for name, config in blocklists.items():
        counts = _table(config, fetching).counts
        bad = f", {counts.bad_lines:,} of {counts.lines:,} lines are no domain and no URL" if counts.bad_lines else ""
        lines.append(f"blocklists.{name}: {counts.entries:,} entries{bad}")
    return lines


def cache_folder() -> Path:
    """Where this machine keeps tables and downloads; they can be deleted at any time."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "obelics-pipeline" / "blocklists"


def _content(config: BlocklistConfig) -> str:
    """The identity of a list's content: its checksum and the categories that are used."""
    return digest(VERSION, _checksum(config), None if config.categories is None else sorted(set(config.categories)))


def _checksum(config: BlocklistConfig) -> str:
    if config.is_url:
        assert config.sha256 is not None
        return config.sha256
    checksum = _source(config).sha256()
    if config.sha256 is not None and checksum != config.sha256:
        raise UserError(f"blocklist {config.path}: has the sha256 {checksum}, not {config.sha256} as the config says")
    return checksum


def _source(config: BlocklistConfig, path: Path | None = None) -> ListSource:
    return ListSource(path or Path(config.path).expanduser(), config.categories, config.path)


@lru_cache(maxsize=64)
def _mapped(path: Path) -> Table:
    return Table(path)


def _table(config: BlocklistConfig, fetching: FetchingConfig) -> Table:
    path = cache_folder() / f"{_content(config)}.table"
    try:
        return _mapped(path)
    except (Damaged, OSError):
        pass
    try:
        source = _source(config, _fetched(config, fetching) if config.is_url else None)
        build(source, path, config.path)
        return _mapped(path)
    except OSError as error:
        raise UserError(
            f"blocklist {config.path}: its table cannot be kept at {path} ({error.strerror}); set XDG_CACHE_HOME to a "
            "folder that can be written to"
        ) from None


def _fetched(config: BlocklistConfig, fetching: FetchingConfig) -> Path:
    path = cache_folder() / f"{config.sha256}.list"
    if not path.exists() or ListSource(path, name=config.path.removesuffix("/")).sha256() != config.sha256:
        download(config, fetching, path)
    return path


def build(source: ListSource, path: Path, name: str) -> None:
    """Make the table of a list. Lines that are not entries are counted. Raises UserError for a list without entries."""
    writer = TableWriter()
    lines = bad = 0
    for line in source.lines():
        lines += 1
        entries = None if line is None else entries_of(line.decode("utf-8", "replace"))
        if entries is None:
            bad += 1
        else:
            writer.add(entries)
            if len(writer) > MAX_ENTRIES:
                raise UserError(f"blocklist {name}: has more than {MAX_ENTRIES:,} entries, and is no list")
    if bad and not len(writer):
        raise UserError(f"blocklist {name}: none of its {lines:,} lines is a domain or a URL; is it the right file?")
    writer.write(path, lines, bad)
