"""`obelics validate`: a finished run held to what it says of itself, shard by shard, with every reader of the trade."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from obelics_pipeline.core.counted import counted
from obelics_pipeline.core.shards.manifest import SHARDS, Promises, RunManifest, read_manifest, stated_counts
from obelics_pipeline.core.shards.run_index import RowSpan, read_spans, tars_of_parts
from obelics_pipeline.core.shards.shard_table import ShardEntry
from obelics_pipeline.core.storage import TEMPORARY, Location, local_copy, names_in
from obelics_pipeline.stages.shard.check_index import CheckedPart, PartTask, check_part
from obelics_pipeline.stages.shard.check_look_ups import look_up_problems
from obelics_pipeline.stages.shard.check_shard import shard_problems, skipped_checks

ShardTask = tuple[ShardEntry, RowSpan]
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
    """Check a run's folder. `each` maps the checks of one part of the index, and of one shard, over all: `map`, or a
    pool's (tasks are small, and the rows of the index are read by who checks).

    Raises UserError for a folder that is no finished run.
    """
    manifest = read_manifest(folder)
    return Report(tuple(problems(folder, each)), manifest.counts(), tuple(skipped_checks()))


def problems(folder: Location, each: Map = map, only: Collection[str] | None = None) -> list[str]:
    """Everything that is wrong with a run's folder, a line each that names shard and document. See `validate`.

    `only` are the names of the shards that are read back; None: all.
    """
    manifest = read_manifest(folder)
    found = [*_manifest_problems(folder, manifest), *_stray_files(folder, manifest)]
    check = partial(_check_part, folder, manifest.promises.score_names)
    checked = [CheckedPart.from_json(value) for value in each(check, _parts(manifest))]
    for part in checked:
        found += part.problems
    tasks = (task for task in _tasks(manifest, checked) if only is None or task[0].name in only)
    for lines in each(partial(_check, folder, manifest.promises), tasks):
        found += lines
    if all(part.usable for part in checked):
        found += look_up_problems(folder, manifest, [folder / part.name for part in manifest.index], each)
    return found


def _parts(manifest: RunManifest) -> Iterator[PartTask]:
    """The files of the index, each with those of its tars that are shards by their names."""
    for part, tars in tars_of_parts(manifest):
        yield part, [tar for tar in tars if _plain(tar.name)]


def _check_part(folder: Location, score_names: Sequence[str], task: PartTask) -> list[Any]:
    return check_part(folder, score_names, task).to_json()


def _check(folder: Location, promises: Promises, task: ShardTask) -> list[str]:
    entry, span = task
    try:
        rows = read_spans(folder, [span])
        with local_copy(folder / SHARDS / entry.name) as path:
            return shard_problems(path, entry, rows, promises)
    except FileNotFoundError:
        return [f"{entry.name}: cannot be read: {os.strerror(errno.ENOENT)}"]


def _tasks(manifest: RunManifest, checked: Sequence[CheckedPart]) -> Iterator[ShardTask]:
    """Each shard of the manifest with its rows of the index; those of a part that is of no use are left out."""
    for (part, tars), outcome in zip(_parts(manifest), checked, strict=True):
        if not outcome.usable:
            continue
        bounds = (0, *accumulate(tar.documents for tar in tars))
        spans = outcome.spans or [RowSpan(part.name, start, stop) for start, stop in pairwise(bounds)]
        yield from {tar.name: (tar, span) for tar, span in zip(tars, spans, strict=True)}.values()


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
