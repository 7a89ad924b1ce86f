"""Hash lists as they are handed out: one hash a line, CSV with a header, or JSON lines. No line is trusted."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from obelics_pipeline.core.config.image_safety import HashKind, HashListConfig
from obelics_pipeline.core.storage import pieces
from obelics_pipeline.policy.lists.lines import read_lines

BYTES: dict[HashKind, int] = {"sha256": 32, "md5": 16, "pdq": 32}  # of a hash
MAX_LINE = 2**20  # bytes; a longer line is a bad one
DEPTH = 6  # of JSON objects in each other that are looked into

# The names of kinds in headers, keys and types: HASH_PDQ is ThreatExchange's, fingerprints are NCMEC's.
_KINDS: dict[str, HashKind] = {kind: kind for kind in get_args(HashKind)}
_TYPES = ("type", "kind", "algorithm", "hashtype", "signaltype", "indicatortype")
_VALUES = ("hash", "value", "indicator", "signal", "hashvalue", "rawvalue", "indicatorvalue")
_PLAIN = re.compile(rb"\s*(?:0x)?([0-9A-Fa-f]{32}|[0-9A-Fa-f]{64})(?:[\s,;].*)?", re.S)
_NOTHING = re.compile(rb"\s*(?:#.*)?", re.S)

Found = tuple[HashKind | None, bytes]  # a kind, None where the line tells none, and the hash


@dataclass
class HashListCounts:
    """The counts of a hash list."""

    hashes: int = 0
    bad: int = 0  # lines without a hash
    ambiguous: int = 0  # hashes of 64 digits that nothing says the kind of
    kinds: dict[str, int] = field(default_factory=dict)


def read_hashes(of: HashListConfig, counts: HashListCounts) -> Iterator[tuple[HashKind, bytes]]:
    """The hashes of a list, in its order; what is wrong with lines is in `counts` afterwards.

    Raises UserError where the file cannot be read, or is larger than it may be.
    """
    content, said = pieces(Path(of.path).expanduser()), f"image_safety.known_abuse: {of.path}"
    for found in _parsed(read_lines(content, said, of.max_bytes, MAX_LINE, "raise its max_bytes if it is right")):
        for told, value in found:
            kind = told or _by_length(value, of.kind)
            if kind is None:
                counts.ambiguous += 1
            else:
                counts.hashes += 1
                counts.kinds[kind] = counts.kinds.get(kind, 0) + 1
                yield kind, value
        counts.bad += not found


def _by_length(value: bytes, kind: HashKind | None) -> HashKind | None:
    """The kind of a hash whose line does not name it: that of the config, else the one that has this length."""
    if kind is not None and len(value) == BYTES[kind]:
        return kind
    return "md5" if len(value) == BYTES["md5"] else None


def _parsed(lines: Iterable[bytes | None]) -> Iterator[list[Found]]:
    """The hashes of each line that is not empty and no comment; none where it has none. The first tells the form."""
    header: list[str] | None = None
    first = True
    for line in lines:
        if line is None:
            yield []
            continue
        if _NOTHING.fullmatch(line):
            continue
        if first:
            first = False
            header = _header(line)
            if header is not None:
                continue
        if plain := _PLAIN.fullmatch(line) if header is None else None:
            yield [(None, bytes.fromhex(plain[1].decode()))]
        elif line.lstrip()[:1] in (b"{", b"["):
            yield _of_json(line)
        elif header is not None:
            yield _of_row(header, line)
        else:
            yield []


def _header(line: bytes) -> list[str] | None:
    """The columns of a CSV, if this is its header: one of them is a kind, or a value."""
    if _PLAIN.fullmatch(line) or line.lstrip()[:1] in (b"{", b"["):
        return None
    names = [_name(cell) for cell in _cells(line)]
    return names if any(name in _VALUES or _kind(name) for name in names) else None


def _of_row(header: list[str], line: bytes) -> list[Found]:
    cells = dict(zip(header, _cells(line), strict=False))
    return list(_of_pairs(cells))


def _cells(line: bytes) -> list[str]:
    text = line.decode("utf-8", "replace").rstrip("\r\n")
    try:
        return next(csv.reader([text], delimiter="\t" if "\t" in text and "," not in text else ","), [])
    except csv.Error:
        return []


def _of_json(line: bytes) -> list[Found]:
    """All hashes of an object: fields that are named as a kind, and values beside a type."""
    try:
        value = json.loads(line.strip().rstrip(b",").decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return []
    found: list[Found] = []
    pending: list[tuple[Any, int]] = [(value, 0)]
    while pending:
        item, depth = pending.pop()
        if isinstance(item, dict):
            found += _of_pairs({_name(str(key)): part for key, part in item.items()})
        if isinstance(item, dict | list) and depth < DEPTH:
            parts = item.values() if isinstance(item, dict) else item
            pending += [(part, depth + 1) for part in parts if isinstance(part, dict | list)]
    return list(dict.fromkeys(found))


def _of_pairs(values: dict[str, Any]) -> Iterator[Found]:
    told = next((_kind(_name(str(values[name]))) for name in _TYPES if name in values), None)
    named_otherwise = told is None and any(name in values for name in _TYPES)
    for name, value in values.items():
        kind = _kind(name)
        if kind is None and (name not in _VALUES or named_otherwise):  # a video's, a text's
            continue
        hash_ = _hash(value)
        kind = kind or told
        if hash_ is not None and (kind is None or len(hash_) == BYTES[kind]):
            yield kind, hash_


def _hash(value: Any) -> bytes | None:
    if not isinstance(value, str):
        return None
    plain = _PLAIN.fullmatch(value.encode("utf-8", "replace"))
    return None if plain is None else bytes.fromhex(plain[1].decode())


def _name(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _kind(name: str) -> HashKind | None:
    return _KINDS.get(name.removeprefix("hash").removesuffix("hash"))
