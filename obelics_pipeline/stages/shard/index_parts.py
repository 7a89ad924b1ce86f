"""The index of a large run, in parts: which tars' rows make which part, and each part merged by a worker."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

from obelics_pipeline.core.code_identity import code_of
from obelics_pipeline.core.commit import Attempt, Manifest, manifest_path, read_manifests, unit_names
from obelics_pipeline.core.errors import Stopped
from obelics_pipeline.core.index_name import INDEX, part_name
from obelics_pipeline.core.shards.index import merge_indexes
from obelics_pipeline.core.shards.manifest import IndexPart
from obelics_pipeline.core.shards.run_index import index_files
from obelics_pipeline.core.storage import Location, remove
from obelics_pipeline.core.unit import Unit, digest
from obelics_pipeline.stages.job import Job
from obelics_pipeline.stages.shard.standing import disown_damaged, manifests_of

STEP = "index"


def plan_parts(documents: Iterable[int], rows: int) -> dict[str, int]:
    """How many tars each file of an index has the rows of, in order, by the documents of each tar.

    One part is the file of a run without parts.
    """
    sizes = tars_together(documents, rows)
    return {part_name(i): size for i, size in enumerate(sizes)} if len(sizes) > 1 else {INDEX: sizes[0]}


def tars_together(documents: Iterable[int], rows: int) -> list[int]:
    """How many tars go together, in order: one more would take them beyond `rows` documents."""
    sizes, held = [0], 0
    for count in documents:
        if sizes[-1] and held + count > rows:
            sizes.append(0)
            held = 0
        sizes[-1] += 1
        held += count
    return sizes


def part_units(tars: Sequence[Manifest], planned: Mapping[str, int], score_names: Sequence[str]) -> list[Unit]:
    """One unit per part, known by the rows that its tars have in the index."""
    units, left = [], iter(tars)
    for name, size in planned.items():
        files = [tar.files["index"] for tar in islice(left, size)]
        id_ = digest(code_of(__name__), name, [file["sha256"] for file in files], list(score_names))
        payload = {"name": name, "rows_of": [file["name"] for file in files], "scores": list(score_names)}
        units.append(Unit(STEP, id_, Path(name).stem, payload))
    return units


def part_unit(unit: Unit, *, folder: Location, shards: Location) -> Manifest:
    """Merge the rows of some tars, from the folder `shards`, to a file of the index in the run's folder."""
    with Attempt(folder, unit) as attempt:
        rows_of = [shards / name for name in unit.payload["rows_of"]]
        merge_indexes(rows_of, attempt.file("data", ".parquet", unit.payload["name"]), unit.payload["scores"])
        return attempt.commit([], {"tars": len(rows_of)})


def make_parts(job: Job, tars: Sequence[Manifest], planned: Mapping[str, int], stage: str) -> tuple[IndexPart, ...]:
    """Make the parts that do not stand yet, by the workers. The run's manifest goes first: names are used again.

    `stage` is the one that this is a step of. Raises Stopped where a part could not be made.
    """
    folder, units = job.folder.path, part_units(tars, planned, job.columns)
    disown_damaged(units, folder, job.runner, "parts of the index")
    standing = manifests_of(folder, units)
    if todo := len(units) - len(standing):
        job.runner.begin(stage, todo, len(units))
    remove([job.folder.manifest])
    sweep_index(folder, map(_entry, standing))
    work = partial(part_unit, folder=folder, shards=job.folder.shards)
    made = job.runner.map(STEP, work, units, folder, stage)
    if len(made) < len(units):
        failed = f"{len(units) - len(made)} of {len(units)} parts of the index failed"
        raise Stopped(f"{failed} (see {job.folder.events}); run the same command to try again")
    return tuple(map(_entry, made))


def sweep_index(folder: Location, index: Iterable[IndexPart]) -> None:
    """Remove the files of an index that are not these, and the manifests of the units that made them."""
    kept = {part.name: part.sha256 for part in index}
    remove(folder / name for name in index_files(folder) if name not in kept)
    names = unit_names(folder, STEP)
    files = {name: manifest.files["data"] for name, manifest in read_manifests(folder, names).items()}
    stale = [name for name in names if name not in files or kept.get(files[name]["name"]) != files[name]["sha256"]]
    remove(manifest_path(folder, name) for name in stale)


def _entry(unit: Manifest) -> IndexPart:
    file = unit.files["data"]
    return IndexPart(file["name"], file["sha256"], file["bytes"], unit.notes["tars"])
