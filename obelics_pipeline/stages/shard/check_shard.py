"""Whether one tar is what the manifest and the index say, down to the pixels of its images."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import IO, Any

from obelics_pipeline.core.shards.check_record import NotJson, parse_json, record_problems
from obelics_pipeline.core.shards.manifest import Promises
from obelics_pipeline.core.shards.record import content_sha256
from obelics_pipeline.core.shards.shard_table import ShardEntry
from obelics_pipeline.core.shards.tar import CHUNK, Member, Placed, TarDamaged, read_members, shard_size
from obelics_pipeline.core.storage import file_sha256
from obelics_pipeline.stages.shard.check_flamingo import flamingo_problems
from obelics_pipeline.stages.shard.check_picture import picture_problems
from obelics_pipeline.stages.shard.readback import datasets_problems, webdataset_problems

Row = Mapping[str, Any]

MAX_JSON = 64 * 2**20  # bytes of a record's JSON that are read; extraction bounds a page far below
LISTED = 20  # problems named per shard; more are counted


def shard_problems(path: Path, entry: ShardEntry, rows: Sequence[Row], promises: Promises) -> list[str]:
    """Every problem of one shard, a line each, at most `LISTED` and a line that counts the rest.

    `rows` are its rows of the index, in order. What does not hold by itself is not handed to other readers: a damaged
    or hostile tar never reaches them. Raises nothing for whatever bytes the tar holds.
    """
    try:
        found = list(_whole_file(path, entry, rows))
        with path.open("rb") as shard:
            names: set[str] = set()
            found += _documents(shard, rows, promises, names)
        if not found:
            found += _readers(path, rows, names, promises)
    except OSError as error:
        found = [f"cannot be read: {error.strerror or error}"]
    return [f"{entry.name}: {problem}" for problem in _cut(found)]


def skipped_checks() -> list[str]:
    """Checks that cannot be made here, with what to install."""
    checks = {"PIL": "images are not decoded (install pillow)", "datasets": "reading with datasets (install datasets)"}
    return [line for module, line in checks.items() if find_spec(module) is None]


def _whole_file(path: Path, entry: ShardEntry, rows: Sequence[Row]) -> Iterator[str]:
    size = path.stat().st_size
    if size != entry.bytes:
        yield f"{size} bytes, in the manifest {entry.bytes}"
    elif file_sha256(path) != entry.sha256:
        yield "its sha256 is not the manifest's"
    if not rows:
        yield "no row in the index: a shard without documents"
    sums = {"texts": "n_texts", "images": "n_images", "files": "n_files"}
    for key, column in sums.items():
        if (n := sum(row[column] for row in rows)) != getattr(entry, key):
            yield f"{n} {key} by the index, {getattr(entry, key)} in the manifest"
    if len(rows) != entry.documents:
        yield f"{len(rows)} documents by the index, {entry.documents} in the manifest"
    at = 0
    for row in rows:
        if row["offset"] != at:
            yield f"document {row['doc_id']}: starts at byte {row['offset']}, the one before ends at {at}"
        at = row["offset"] + row["length"]
    if shard_size(at) != size:
        yield f"{size} bytes, its documents end at {at} and make a tar of {shard_size(at)}"
    elif not _zero(path, at):
        yield f"bytes after its last document, which ends at {at}"


def _zero(path: Path, start: int) -> bool:
    with path.open("rb") as stream:
        stream.seek(start)
        return all(not any(chunk) for chunk in iter(lambda: stream.read(CHUNK), b""))


def _documents(shard: IO[bytes], rows: Sequence[Row], promises: Promises, names: set[str]) -> Iterator[str]:
    """Read every document by its offset. Adds to `names` the member names after the key."""
    size = shard.seek(0, 2)
    seen: set[str] = set()
    for row in rows:
        key = row["doc_id"]
        if key in seen:
            yield f"document {key}: twice in the shard"
        seen.add(key)
        placed = Placed(row["offset"], row["length"])
        try:
            members = read_members(shard, placed, size)
            yield from (f"document {key}: {problem}" for problem in _document(members, row, promises, names))
        except TarDamaged as damage:
            yield f"document {key}: {damage}"


def _document(members: Iterator[Member], row: Row, promises: Promises, names: set[str]) -> Iterator[str]:
    """Check one document member by member; one image is held at a time, where images are members."""
    if promises.format == "open_flamingo":
        yield from flamingo_problems(members, row, promises)
        return
    key = row["doc_id"]
    first = next(members)
    if first.name != f"{key}.json" or first.size > MAX_JSON:
        yield f"its first member must be {key}.json of at most {MAX_JSON} bytes, found {first.name!a} of {first.size}"
        return
    data = first.stream.read()
    hashes = [(first.name, hashlib.sha256(data).hexdigest())]
    try:
        value = parse_json(data)
    except NotJson as error:
        yield f"{first.name} is not JSON: {error}"
        return
    about = _by_file(value)
    for member in members:
        hashes.append((member.name, member.sha256()))
        name = member.name.removeprefix(f"{key}.")
        if name in about and find_spec("PIL"):
            yield from (f"{name}: {problem}" for problem in picture_problems(member.stream, about[name]))
    found = [name.removeprefix(f"{key}.") for name, _ in hashes[1:]]
    names.update(found, ["json"])
    yield from record_problems(value, row, found, promises)
    if content_sha256(hashes) != row["content_sha256"]:
        yield "its content is not what the index has the sha256 of"


def _by_file(value: Any) -> dict[str, Any]:
    """Metadata objects by file name, as far as the record is in order; `record_problems` says where it is not."""
    try:
        metadata = parse_json(value["metadata"])
        pairs = zip(value["files"], metadata, strict=True)
        return {name: about for name, about in pairs if isinstance(name, str) and isinstance(about, dict)}
    except (NotJson, KeyError, TypeError, ValueError, AttributeError):
        return {}


def _readers(path: Path, rows: Sequence[Row], names: set[str], promises: Promises) -> list[str]:
    """Read the shard with webdataset and datasets. An error of theirs is a problem of the shard."""
    found: list[str] = []
    readers: dict[str, Callable[[], Iterator[str]]] = {"webdataset": lambda: webdataset_problems(path, rows)}
    if find_spec("datasets") and promises.format == "webdataset":  # else the JSON of each document has its own columns
        readers["datasets"] = lambda: datasets_problems(path, rows, names, promises.score_names)
    for reader, read in readers.items():
        try:
            found += read()
        except Exception as error:
            found.append(f"{reader} cannot read it: {type(error).__name__}: {' '.join(str(error).split())[:200]}")
    return found


def _cut(problems: Sequence[str]) -> Iterator[str]:
    yield from islice(problems, LISTED)
    if len(problems) > LISTED:
        yield f"{len(problems) - LISTED} more problems in this shard"
