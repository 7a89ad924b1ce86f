"""A global step between maps: the engine's shuffle brings rows together by a column, and the results are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from obelics_pipeline.core.code_identity import code_of
from obelics_pipeline.core.commit import Manifest, remember
from obelics_pipeline.core.errors import Stopped
from obelics_pipeline.core.partitions import Partitions
from obelics_pipeline.core.revision_place import pieces_in
from obelics_pipeline.core.storage import Location, files_below, hold_to_name, remove
from obelics_pipeline.core.unit import Unit, digest
from obelics_pipeline.engines.engine import Work
from obelics_pipeline.engines.groups import DATA, Group, Piece, Reduce, as_they_are
from obelics_pipeline.engines.runner import StageRunner


@dataclass(frozen=True)
class ShuffleInput:
    """A Parquet file of shuffled rows and the sha256 of its bytes."""

    path: Location
    sha256: str


@dataclass(frozen=True)
class Shuffled:
    """What a shuffle made of each group, and the folder that its pieces are in."""

    folder: Location
    groups: Mapping[str, Group]

    def sources(self, role: str) -> list[ShuffleInput]:
        """The pieces of a role as rows of a further step; those without rows are left out."""
        pieces = (group.pieces[role] for group in self.groups.values())
        return [ShuffleInput(self.folder / piece.name, piece.sha256) for piece in pieces if piece.rows]


def sources_of(manifests: Sequence[Manifest], folder: Location, role: str = DATA) -> list[ShuffleInput]:
    """The files that play a role in committed units; those that are noted to be without rows are left out."""
    return [
        ShuffleInput(m.path(folder, role), m.files[role]["sha256"])
        for m in manifests
        if m.notes.get("rows", {}).get(role) != 0
    ]


def shuffle(
    runner: StageRunner, folder: Location, sources: Sequence[ShuffleInput], column: str, reduce: Reduce, settings: Any
) -> Shuffled:
    """Bring the rows of files together by a column and reduce each group, unless that was done before.

    `settings` are what `reduce` depends on. `folder` is this step's own: what other sources had led to is removed.
    Raises Damaged where a source is.
    """
    key = digest(column, settings, _code_of(reduce), sorted(source.sha256 for source in sources))
    output = folder / key

    def make() -> dict[str, Any]:
        runner.events.write("shuffle_started", step=folder.name, sources=len(sources))
        list(runner.engine.map(hold_to_name, [source.path for source in sources]))  # engines read them their own way
        groups = runner.engine.shuffle([source.path for source in sources], column, reduce, output) if sources else {}
        rows = sum(group.rows for group in groups.values())
        runner.events.write("shuffle_done", step=folder.name, rows=rows, groups=len(groups))
        return {value: asdict(group) for value, group in groups.items()}

    value = remember(folder / f"{key}.json", make)
    remove(folder / name for name in files_below(folder) if not name.startswith((f"{key}/", f"{key}.json")))
    there, noted = pieces_in(output, value)
    return Shuffled(there, {name: _group(group) for name, group in noted.items()})


def _code_of(reduce: Reduce) -> str:
    """The code that makes the rows of a group, and that of what is written of them."""
    function = reduce.func if isinstance(reduce, partial) else reduce
    return digest(code_of(function.__module__), code_of(Group.__module__))


def _group(value: Mapping[str, Any]) -> Group:
    return Group(value["rows"], {role: Piece(**piece) for role, piece in value["pieces"].items()}, value["notes"])


def partition_by(runner: StageRunner, folder: Location, sources: Sequence[ShuffleInput], column: str) -> Partitions:
    """The rows of files by the value of a column: one file for each value."""
    shuffled = shuffle(runner, folder, sources, column, as_they_are, "partitions")
    pieces = {value: group.pieces[DATA] for value, group in shuffled.groups.items()}
    files = {value: [piece.name] for value, piece in pieces.items()}
    return Partitions(shuffled.folder, files, {value: piece.sha256 for value, piece in pieces.items()})


def map_all(
    runner: StageRunner, stage: str, work: Work, units: Sequence[Unit], folder: Location, part_of: str
) -> Sequence[Manifest]:
    """Map a step that needs every unit. Raises Stopped if one failed: part of the units give no right verdict."""
    manifests = runner.map(stage, work, units, folder, part_of=part_of)
    if len(manifests) < len(units):
        raise Stopped(
            f"{part_of}: {len(units) - len(manifests)} of {len(units)} units of the step {stage} failed (see "
            "events.jsonl), and without them no document can be judged; run the same command to try them again"
        )
    return manifests
