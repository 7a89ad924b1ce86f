"""`obelics validate`: a finished run held to what it says of itself, shard by shard, with every reader of the trade."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.counted import counted
from obelics_pipeline.core.shards.index import fixed_columns, index_schema, read_index, read_span
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
from obelics_pipeline.stages.shard.check_shard import shard_problems, skipped_checks

ShardTask = tuple[ShardEntry, int, int]  # a shard, and its rows of the index from the first to beyond the last
Map = Callable[[Callable[[ShardTask], list[str]], Iterable[ShardTask]], Iterable[list[str]]]


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


def problems(folder: Location, each: Map = map) -> list[str]:
    """Everything that is wrong with a run's folder, a line each that names shard and document. See `validate`."""
    manifest = read_manifest(folder)
    found = [*_manifest_problems(folder, manifest), *_stray_files(folder, manifest)]
    try:
        with local_copy(folder / INDEX) as index:
            wrong = list(_index_file_problems(index, manifest))
            found += wrong
            if not any(line.startswith(f"{INDEX}: cannot") for line in wrong):
                check = partial(_check, folder, manifest.promises)
                for lines in each(check, _tasks(index, manifest, found)):
                    found += lines
                found += _repeated_ids(index)
    except FileNotFoundError as error:
        found.append(f"{INDEX}: cannot be read: {error}")
    return found


def _check(folder: Location, promises: Promises, task: ShardTask) -> list[str]:
    entry, start, stop = task
    rows = read_span(folder / INDEX, start, stop)
    try:
        with local_copy(folder / SHARDS / entry.name) as path:
            return shard_problems(path, entry, rows, promises)
    except FileNotFoundError:
        return [f"{entry.name}: cannot be read: {os.strerror(errno.ENOENT)}"]


def _tasks(index: Path, manifest: RunManifest, found: list[str]) -> Iterator[ShardTask]:
    """Each shard of the manifest with its rows of the index; what does not match goes to `found`."""
    waiting = {entry.name: entry for entry in manifest.shards if _plain(entry.name)}
    start = 0
    for name, rows in groupby(str(row["shard"]) for row in read_index(index, ["shard"])):
        stop = start + sum(1 for _ in rows)
        entry = waiting.pop(name, None)
        if entry is None:
            found.append(f"{INDEX}: rows of {name!a}, which the manifest does not list, or lists elsewhere")
        else:
            yield entry, start, stop
        start = stop
    for entry in waiting.values():
        yield entry, 0, 0


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
        if size_of(path) != manifest.index_bytes or file_sha256(path) != manifest.index_sha256:
            yield f"{INDEX}: its sha256 is not the manifest's"
        schema = pq.read_schema(path)
        if not schema.equals(index_schema(manifest.promises.score_names, fixed_columns(schema))):
            yield f"{INDEX}: cannot be used: its columns are {', '.join(schema.names)}"
            return
        for _row in read_index(path, ["shard"]):
            pass
    except (OSError, ValueError, pa.ArrowException) as error:
        yield f"{INDEX}: cannot be read: {str(error).splitlines()[0][:200]}"


def _repeated_ids(index: Path) -> list[str]:
    """Documents that are in the index more than once, over the whole run."""
    import duckdb

    query = "SELECT doc_id, count(*) FROM read_parquet(?) GROUP BY doc_id HAVING count(*) > 1 ORDER BY doc_id LIMIT 20"
    with duckdb.connect() as connection:
        rows = connection.execute(query, [str(index)]).fetchall()
    return [f"{INDEX}: document {doc_id} is in it {n} times" for doc_id, n in rows]
