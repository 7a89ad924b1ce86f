"""A global step between maps: the engine's shuffle deals rows out by a column, and remembers what it dealt."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa

from obelics_pipeline.commit import Manifest, remember, sweep
from obelics_pipeline.dealt import Dealt
from obelics_pipeline.dedup.judge import Judge, judge_unit
from obelics_pipeline.engines.engine import Work
from obelics_pipeline.errors import Stopped
from obelics_pipeline.stages import StageRunner
from obelics_pipeline.storage import Place, read_table, remove_tree
from obelics_pipeline.unit import Unit, digest

AT_ONCE = 256  # groups whose digests one task of the engine makes


@dataclass(frozen=True)
class Source:
    """A Parquet file of messages and the sha256 of its bytes."""

    path: Place
    sha256: str


def sources_of(manifests: Sequence[Manifest], folder: Place, role: str = "data") -> list[Source]:
    """The files that play a role in committed units; those that are noted to be without rows are left out."""
    return [
        Source(m.path(folder, role), m.files[role]["sha256"])
        for m in manifests
        if m.notes.get("rows", {}).get(role) != 0
    ]


def deal(runner: StageRunner, folder: Place, sources: Sequence[Source], column: str) -> Dealt:
    """Deal the rows of message files out by a column, with the engine's shuffle, unless that was done before.

    `folder` is this step's own: what other sources were dealt out to there is removed.
    """
    if not sources:
        return Dealt(folder)
    key = digest(column, sorted(source.sha256 for source in sources))

    def make() -> dict[str, Any]:
        dealt = runner.engine.regroup([source.path for source in sources], column, folder / "dealt" / key)
        values = sorted(dealt)
        parts = [[dealt[value] for value in values[i : i + AT_ONCE]] for i in range(0, len(values), AT_ONCE)]
        digests = [text for texts in runner.engine.map(rows_digests, parts) for text in texts]
        names = {value: [_below(path, folder) for path in dealt[value]] for value in values}
        return {"files": names, "digests": dict(zip(values, digests, strict=True))}

    value = remember(folder / f"dealt-{key}.json", make)
    for path in (folder / "dealt").iterdir():
        if path.name != key:
            remove_tree(path)
    return Dealt(folder, value["files"], value["digests"])


def judge_units(stage: str, dealt: Dealt, settings: Any) -> list[Unit]:
    """One unit per bucket of a shuffle; `settings` are what its judgement depends on besides its rows."""
    return [
        Unit(stage, digest(dealt.digests[value], settings), f"{int(value):05d}", {"value": value, "files": list(files)})
        for value, files in sorted(dealt.files.items(), key=lambda item: int(item[0]))
    ]


def judge(
    runner: StageRunner, stage: str, judgement: Judge, dealt: Dealt, settings: Any, part_of: str
) -> tuple[list[Manifest], Place]:
    """Judge every bucket of a shuffle, beside what was dealt; returns the units and their folder."""
    folder = dealt.folder / "judged"
    units = judge_units(stage, dealt, settings)
    work = partial(judge_unit, folder=folder, dealt_folder=dealt.folder, judge=judgement)
    manifests = map_all(runner, stage, work, units, folder, part_of) if units else []
    sweep(folder, manifests)
    return manifests, folder


def map_all(
    runner: StageRunner, stage: str, work: Work, units: Sequence[Unit], folder: Place, part_of: str
) -> list[Manifest]:
    """Map a step of which no unit may be missing. Raises Stopped where one failed: half a verdict is none."""
    manifests = runner.map(stage, work, units, folder, part_of=part_of)
    if len(manifests) < len(units):
        raise Stopped(
            f"{part_of}: {len(units) - len(manifests)} of {len(units)} units of the step {stage} failed (see "
            "events.jsonl), and without them no document can be judged; run the same command to try them again"
        )
    return manifests


def rows_digests(groups: Sequence[Sequence[Place]]) -> list[str]:
    """A digest of the rows of each group of files, whatever their order and however they are stored."""
    return [rows_digest(files) for files in groups]


def rows_digest(files: Sequence[Place]) -> str:
    """A digest of the rows of some files of one kind, whatever their order."""
    table = pa.concat_tables([read_table(path) for path in files], promote_options="permissive")
    rows = sorted(repr(tuple(row.values())) for row in table.to_pylist())
    return hashlib.sha256("\n".join(rows).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _below(path: Place, folder: Place) -> str:
    return str(path)[len(str(folder)) :].lstrip("/")
