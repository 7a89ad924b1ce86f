"""`obelics validate`: a finished run held to what it says of itself, shard by shard, with every reader of the trade."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.counted import counted
from obelics_pipeline.core.shards.index import fixed_columns, index_schema
from obelics_pipeline.core.shards.manifest import (
    INDEX,
    SHARDS,
    Promises,
    RunManifest,
    ShardEntry,
    read_manifest,
    stated_counts,
)
from obelics_pipeline.core.storage import TEMPORARY, Location, file_sha256, local_copy, names_in, size_of
from obelics_pipeline.stages.shard.check_look_ups import look_up_problems
from obelics_pipeline.stages.shard.check_shard import shard_problems, skipped_checks
from obelics_pipeline.stages.shard.index_rows import NO_ROWS, IndexRows, handed, tars_in_order

ShardTask = tuple[ShardEntry, IndexRows]
NO_PARTS: Mapping[str, Location] = MappingProxyType({})
Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


@dataclass(frozen=True)
class Report:
    """The outcome: no problems, or what they are, a line each; and which checks could not be made here."""

    problems: tuple[str, ...]
    counts: Mapping[str, int]
    skipped: tuple[str, ...]

    @property
    def exit_code(self) -> int:
        """0 where nothing is wrong, else 1."""
        return 1 if self.problems else 0

    def lines(self) -> list[str]:
        """For a person: the problems, then a summary."""
        counts = ", ".join(counted(n, noun) for noun, n in self.counts.items())
        verdict = counted(len(self.problems), "problems") if self.problems else "valid"
        return [*self.problems, *(f"not checked: {line}" for line in self.skipped), f"{verdict}: {counts}"]


def validate(folder: Location, each: Map = map) -> Report:
    """Check a run's folder. `each` maps the check of one shard over all: `map`, or a pool's (tasks are small).

    Raises UserError for a folder that is no finished run.
    """
    manifest = read_manifest(folder)
    return Report(tuple(problems(folder, each)), manifest.counts(), tuple(skipped_checks()))


def problems(
    folder: Location,
    each: Map = map,
    parts: Mapping[str, Location] = NO_PARTS,
    only: Collection[str] | None = None,
) -> list[str]:
    """Everything that is wrong with a run's folder, a line each that names shard and document. See `validate`.

    `parts` are the files in which the rows of tars were committed, by the tar's name: a task then carries no rows.
    `only` are the names of the shards that are read back; None: all.
    """
    manifest = read_manifest(folder)
    found = [*_manifest_problems(folder, manifest), *_stray_files(folder, manifest)]
    try:
        with local_copy(folder / INDEX) as index:
            found += _index_file_problems(index, manifest)
            if not _is_unusable(found):
                check = partial(_check, folder, manifest.promises)
                tasks = (t for t in _tasks(index, manifest, parts, found) if only is None or t[0].name in only)
                for lines in each(check, tasks):
                    found += lines
            if not _is_unusable(found):
                found += look_up_problems(folder, manifest, [folder / INDEX], each)
    except FileNotFoundError as error:
        found.append(f"{INDEX}: cannot be read: {error}")
    return found


def _is_unusable(found: Iterable[str]) -> bool:
    return any(line.startswith(f"{INDEX}: cannot") for line in found)


def _check(folder: Location, promises: Promises, task: ShardTask) -> list[str]:
    entry, of_index = task
    rows = of_index.read(folder / INDEX)
    try:
        with local_copy(folder / SHARDS / entry.name) as path:
            return shard_problems(path, entry, rows, promises)
    except FileNotFoundError:
        return [f"{entry.name}: cannot be read: {os.strerror(errno.ENOENT)}"]


def _tasks(index: Path, manifest: RunManifest, parts: Mapping[str, Location], found: list[str]) -> Iterator[ShardTask]:
    """Each shard of the manifest with its rows of the index; what does not match goes to `found`."""
    waiting = {entry.name: entry for entry in manifest.shards if _plain(entry.name)}
    start = 0
    try:
        for name, rows in tars_in_order(index):
            entry = waiting.pop(name, None)
            if entry is None:
                found.append(f"{INDEX}: rows of {name!a}, which the manifest does not list, or lists elsewhere")
            else:
                yield entry, handed(rows, start, parts.get(name))
            start += rows.num_rows
    except (OSError, ValueError, pa.ArrowException) as error:
        found.append(_unreadable(error))
        return
    for entry in waiting.values():
        yield entry, NO_ROWS


def _plain(name: object) -> bool:
    """Whether a manifest names a file within the folder `shards`, and no other place."""
    return isinstance(name, str) and name.endswith(".tar") and name == Path(name).name and "\0" not in name


def _manifest_problems(folder: Location, manifest: RunManifest) -> Iterator[str]:
    counts = manifest.counts()
    if stated_counts(folder) != counts:
        yield f"manifest.json: counts are {stated_counts(folder)}, its shards sum to {counts}"
    for entry in manifest.shards:
        if not _plain(entry.name):
            yield f"manifest.json: {entry.name!a} is no name of a shard"
    if len({entry.name for entry in manifest.shards}) != len(manifest.shards):
        yield "manifest.json: a shard is listed twice"
    for noun, ledger in manifest.ledgers.items():
        if not ledger.balanced():
            yield f"manifest.json: the ledger of {noun} does not balance: {ledger.to_json()}"
        if noun in ("documents", "images") and ledger.kept != counts[noun]:
            yield f"manifest.json: {ledger.kept} {noun} kept by the ledger, {counts[noun]} in the shards"


def _stray_files(folder: Location, manifest: RunManifest) -> Iterator[str]:
    listed = {entry.name for entry in manifest.shards}
    for name in names_in(folder / SHARDS):
        if name.endswith(".tar") and name not in listed and not name.startswith(TEMPORARY):
            yield f"{name}: is not in the manifest"


def _index_file_problems(path: Path, manifest: RunManifest) -> Iterator[str]:
    try:
        (stated,) = manifest.index
        if size_of(path) != stated.bytes or file_sha256(path) != stated.sha256:
            yield f"{INDEX}: its sha256 is not the manifest's"
        schema = pq.read_schema(path)
        if not schema.equals(index_schema(manifest.promises.score_names, fixed_columns(schema))):
            yield f"{INDEX}: cannot be used: its columns are {', '.join(schema.names)}"
    except (OSError, ValueError, pa.ArrowException) as error:
        yield _unreadable(error)


def _unreadable(error: Exception) -> str:
    return f"{INDEX}: cannot be read: {str(error).splitlines()[0][:200]}"
