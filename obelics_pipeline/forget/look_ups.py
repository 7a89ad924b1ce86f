"""The look-ups of a run without what is forgotten, and with where the other documents of a rewritten tar stand now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from obelics_pipeline.core.commit import Manifest, manifest_path, read_manifest
from obelics_pipeline.core.content_name import content_name, stated_hash, stem_of
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.shards.look_up import (
    content_number,
    facts_of,
    is_whole,
    read_look_up,
    shard_number,
    write_look_up,
)
from obelics_pipeline.core.shards.manifest import LookUpPart
from obelics_pipeline.core.storage import file_sha256, files_below, local_copy
from obelics_pipeline.forget.switch import Switch
from obelics_pipeline.forget.units import as_json

MOVED = ("offset", "length", "content")


class Moves:
    """Where the documents of rewritten tars stood, and where those that stay stand now."""

    def __init__(self) -> None:
        self._tars: dict[int, npt.NDArray[np.uint64]] = {}  # by offset before: that, then what `MOVED` names

    def add(self, name: str, before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> None:
        """Note a tar by its rows of the index, before and after."""
        stood = {row["doc_id"]: row["offset"] for row in before}
        moved = [(stood[r["doc_id"]], r["offset"], r["length"], content_number(r["content_sha256"])) for r in after]
        self._tars[shard_number(name)] = np.array(sorted(moved), np.uint64).reshape(-1, 1 + len(MOVED))

    def apply(self, rows: pa.Table) -> pa.Table:
        """The rows of a bucket as they are now: the same table where none is of a rewritten tar."""
        shards = rows["shard"].to_numpy()
        touched = np.isin(shards, list(self._tars))
        if not touched.any():
            return rows
        columns = {name: rows[name].to_numpy().astype(np.uint64) for name in MOVED}
        stays = np.ones(len(shards), np.bool_)
        for number in np.unique(shards[touched]).tolist():
            at, moved = np.flatnonzero(shards == number), self._tars[number]
            places = np.searchsorted(moved[:, 0], columns["offset"][at])
            known = places < len(moved)
            known[known] = moved[places[known], 0] == columns["offset"][at[known]]
            stays[at] = known
            for column, name in enumerate(MOVED, 1):
                columns[name][at[known]] = moved[places[known], column]
        for name in MOVED:
            position, field = rows.schema.get_field_index(name), rows.schema.field(name)
            rows = rows.set_column(position, field, pa.array(columns[name]).cast(field.type))
        return rows.filter(pa.array(stays))


def rewrite_look_ups(
    run: RunFolder, switch: Switch, look_up: Sequence[LookUpPart], moves: Moves
) -> tuple[LookUpPart, ...]:
    """Stage all buckets that change, and remove what no bucket is; the entries for the run's manifest.

    There are none where a bucket is damaged or gone: the next run makes the look-ups again.
    """
    whole = all(stated_hash(part.name) is not None and is_whole(run.path, part) for part in look_up)
    now = [_rewritten(run, switch, part, moves) for part in look_up if whole]
    kept = {part.name for part in now} | {manifest_path(run.look_up, stem_of(part.name)).name for part in now}
    for name in files_below(run.look_up):
        if name.rpartition("/")[2] not in kept:
            switch.drop(f"{run.look_up.name}/{name}")
    return tuple(now)


def _rewritten(run: RunFolder, switch: Switch, part: LookUpPart, moves: Moves) -> LookUpPart:
    with local_copy(run.look_up / part.name) as path:
        before = read_look_up(path)
    after = moves.apply(before)
    if after is before:
        return part
    draft = switch.draft(".parquet")
    write_look_up(after, draft)
    sha256, size, unit = file_sha256(draft), draft.stat().st_size, stem_of(part.name)
    facts = facts_of(part.kind, draft)
    now = replace(part, name=content_name(unit, sha256, ".parquet"), sha256=sha256, bytes=size, **facts)
    standing = read_manifest(run.look_up, unit)
    if standing is not None:
        files = {"data": {"name": now.name, "sha256": sha256, "bytes": size}}
        value = Manifest(unit, standing.stage, files, standing.ledgers, facts).to_json()
        where = manifest_path(run.look_up, unit)
        switch.stage_bytes(as_json(value), f"{run.look_up.name}/{where.parent.name}/{where.name}")
    switch.stage(draft, f"{run.look_up.name}/{now.name}")
    return now
