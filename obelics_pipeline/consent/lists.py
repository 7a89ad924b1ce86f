"""Opt-out lists as sorted arrays of hashes, eight bytes an entry: made once for a run, mapped by its workers.

A hash of 64 bits is another entry's by chance once in 2^64 / entries: of a billion addresses asked of a list of a
hundred million, 0.005 are dropped for nothing.
"""

from __future__ import annotations

import hashlib
import io
import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.config.consent import OptOutListConfig, Subject
from obelics_pipeline.consent.list_file import MAX_LINE, entries
from obelics_pipeline.errors import UserError
from obelics_pipeline.page_url import normalise
from obelics_pipeline.registered_domain import MAX_HOST, idna_host, is_public_suffix
from obelics_pipeline.storage import Place, draft, file_sha256, place, read_bytes, size_of
from obelics_pipeline.unit import digest

VERSION = 1  # raise it when the same file would give another array
OPT_OUT = "opt_out_"  # begins the reason of what a list drops
Keys = NDArray[np.uint64]

_SHA256 = re.compile(r"[0-9a-fA-F]{64}")
_HOST = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")
_MAX_LABELS = 40  # of a host that are looked up: 127 is what a name can have, and none has


@dataclass(frozen=True)
class OptOutList:
    """A list that is ready. `key` says what is in it, `place` is its array; the counts are of the file's lines."""

    name: str
    kind: str
    of: tuple[Subject, ...]
    key: str
    place: Place
    entries: int
    bad: int


class OptOuts:
    """The lists of a run, in the config's order: the first that has something names the reason."""

    def __init__(self, lists: tuple[OptOutList, ...] = ()) -> None:
        self.lists = lists

    def identity(self, subject: Subject) -> list[list[str]]:
        """What a verdict about pages, or about images, depends on: content, not paths."""
        return [[entry.name, entry.kind, entry.key] for entry in self.lists if subject in entry.of]

    def lines(self) -> list[str]:
        """One line per list, for a person: what is in it."""
        return [
            f"opt-out list {entry.name}: {entry.entries:,} {entry.kind}"
            + (f"; {entry.bad:,} lines are none and are passed over" if entry.bad else "")
            for entry in self.lists
        ]

    def page_reason(self, url: str) -> str | None:
        """The reason to drop a page by its address, or None."""
        return self._url_reason(url, "pages")

    def image_reason(self, url: str) -> str | None:
        """The reason not to ask for an image, by its address, or None."""
        return self._url_reason(url, "images")

    def content_reason(self, sha256: str) -> str | None:
        """The reason to drop an image by its bytes, or None."""
        return self._reason("images", {"hashes": [_of_hex(sha256)]})

    def _url_reason(self, url: str, subject: Subject) -> str | None:
        kinds = {entry.kind for entry in self.lists if subject in entry.of}
        if not kinds:
            return None
        wanted: dict[str, Sequence[int]] = {}
        normal = normalise(url) if kinds & {"urls", "hashes"} else url
        if "urls" in kinds:
            wanted["urls"] = [_hash(normal)]
        if "hashes" in kinds:
            wanted["hashes"] = [_of_address(url), _of_address(normal)]
        if "domains" in kinds:
            wanted["domains"] = _domain_keys(_host_of(url))
        return self._reason(subject, wanted)

    def _reason(self, subject: Subject, wanted: Mapping[str, Sequence[int]]) -> str | None:
        for entry in self.lists:
            if subject in entry.of and entry.kind in wanted and _any_in(_keys(entry), wanted[entry.kind]):
                return OPT_OUT + entry.name
        return None


NO_LISTS = OptOuts()


def prepare(lists: Mapping[str, OptOutListConfig], folder: Place, options: Mapping[str, Mapping[str, Any]]) -> OptOuts:
    """Read the lists of a config into arrays below `folder`, those that are not there yet.

    `options` are those of fsspec's file systems. Raises UserError for a list that cannot be read, is not what it should
    be by its sha256, or in which no line is an entry.
    """
    return OptOuts(tuple(_prepared(name, entry, folder, options) for name, entry in lists.items()))


def _prepared(
    name: str, config: OptOutListConfig, folder: Place, options: Mapping[str, Mapping[str, Any]]
) -> OptOutList:
    where = place(config.path, options)
    try:
        sha256 = file_sha256(where)
    except OSError as error:
        why = error.strerror or type(error).__name__
        what = f"consent.lists.{name}: {config.path} cannot be read ({why})"
        raise UserError(f"{what}; give a file that is there") from None
    if config.sha256 is not None and sha256 != config.sha256:
        raise UserError(
            f"consent.lists.{name}: {config.path} has the sha256 {sha256}, not {config.sha256}; get it anew, or change "
            "sha256 if the list was renewed"
        )
    key = digest(VERSION, sha256, config.kind, config.column, _form(config.path))
    target = folder / f"{key}.npy"
    if size_of(target) is None:
        _compile(name, where, config, target)
    found = _load(target)
    counts = found[:2]
    return OptOutList(name, config.kind, config.of, key, target, int(counts[0]), int(counts[1]))


def _form(path: str) -> str:
    """How a file is read, by the end of its name."""
    return "".join(re.findall(r"\.(?:parquet|pq|jsonl|ndjson|json|gz|zst)(?=\.|$)", path.lower())[-2:])


def _compile(name: str, where: Place, config: OptOutListConfig, target: Place) -> None:
    """The array of a list: the number of its entries, of its bad lines, then the sorted hashes."""
    key_of = {"urls": _url_entry, "domains": _domain_entry, "hashes": _hash_entry}[config.kind]
    found, bad = array("Q"), 0
    try:
        for entry in entries(where, config):
            key = key_of(entry) if entry is not None and len(entry) <= MAX_LINE else None
            if key is None:
                bad += 1
            else:
                found.append(key)
    except OSError as error:
        raise UserError(f"consent.lists.{name}: {config.path} cannot be read ({error}); try again") from None
    if bad and not found:
        raise UserError(f"consent.lists.{name}: none of the {bad:,} lines of {config.path} is one of {config.kind}")
    keys = np.unique(np.frombuffer(found, np.uint64)) if found else np.empty(0, np.uint64)
    with draft(target) as path:
        np.save(path, np.concatenate([np.array([len(keys), bad], np.uint64), keys]), allow_pickle=False)


def _url_entry(entry: str) -> int | None:
    normal = normalise(entry if "://" in entry else f"http://{entry}")
    return _hash(normal) if normal.startswith("http://") and "." in normal.split("/")[2] else None


def _domain_entry(entry: str) -> int | None:
    host = _host_of(entry) if "://" in entry else _ascii(entry.removeprefix("*.").strip("."))
    if not host or is_public_suffix(host):
        return None
    return _hash(host)


def _hash_entry(entry: str) -> int | None:
    text = entry.lower().removeprefix("sha256:")
    return _of_hex(text) if _SHA256.fullmatch(text) else None


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest())


def _of_address(url: str) -> int:
    return _of_hex(hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest())


def _of_hex(sha256: str) -> int:
    return int(sha256[:16], 16)


@lru_cache(maxsize=16_384)
def _host_of(url: str) -> str:
    try:
        return _ascii(urlsplit(url).hostname or "")
    except ValueError:
        return ""


def _ascii(host: str) -> str:
    """A host as the DNS has it, in lower case; empty for what can be none."""
    if len(host) > MAX_HOST:
        return ""
    if ":" in host or host[-1:].isdigit():
        try:
            return str(ip_address(host.strip("[]")))
        except ValueError:
            pass
    host = idna_host(host).lower().rstrip(".")
    return host if _HOST.fullmatch(host) else ""


@lru_cache(maxsize=16_384)
def _domain_keys(host: str) -> tuple[int, ...]:
    """The hashes of a host and of all that it is below."""
    return tuple(_hash(name) for name in _with_parents(host))


def _with_parents(host: str) -> Iterator[str]:
    for _ in range(_MAX_LABELS):
        if not host:
            return
        yield host
        host = host.partition(".")[2] if not host[-1].isdigit() else ""  # nothing is above an address


def _any_in(keys: memoryview, wanted: Sequence[int]) -> bool:
    for key in wanted:
        at = bisect_left(keys, key)
        if at < len(keys) and keys[at] == key:
            return True
    return False


_LOADED: dict[str, memoryview] = {}  # by what is in them, once a process


def _keys(entry: OptOutList) -> memoryview:
    if entry.key not in _LOADED:
        _LOADED[entry.key] = _load(entry.place)[2:].data
    return _LOADED[entry.key]


def _load(where: Place) -> Keys:
    if isinstance(where, Path):
        mapped: Keys = np.load(where, mmap_mode="r", allow_pickle=False)
        return mapped
    held: Keys = np.load(io.BytesIO(read_bytes(where)), allow_pickle=False)
    return held
