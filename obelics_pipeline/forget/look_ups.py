"""The look-ups of a run without what is forgotten, and with where the other documents of a rewritten tar stand now."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from obelics_pipeline.core.commit import Attempt, Manifest, manifest_path, read_manifest
from obelics_pipeline.core.content_name import content_name, stated_hash, stem_of
from obelics_pipeline.core.shards.look_up import (
    content_number,
    facts_of,
    is_whole,
    read_look_up,
    shard_number,
    write_look_up,
)
from obelics_pipeline.core.shards.manifest import LookUpPart
from obelics_pipeline.core.storage import Location, file_sha256, files_below, local_copy, read_bytes
from obelics_pipeline.core.unit import Unit, digest
from obelics_pipeline.forget.place import Place
from obelics_pipeline.forget.steps import Steps
from obelics_pipeline.forget.switch import Switch
from obelics_pipeline.forget.units import as_json

MOVED = ("offset", "length", "content")
Moves = npt.NDArray[np.uint64]  # of one tar, a row for each document that stays: its offset before, and `MOVED` now
NONE_STAYS: Moves = np.empty((0, 1 + len(MOVED)), np.uint64)


def moves_of(before: Iterable[Mapping[str, Any]], after: Iterable[Mapping[str, Any]]) -> Moves:
    """Where the documents of a tar stood that stay, sorted, and where they stand now, by its rows of the index."""
    stood = {row["doc_id"]: row["offset"] for row in before}
    moved = [(stood[r["doc_id"]], r["offset"], r["length"], content_number(r["content_sha256"])) for r in after]
    return np.array(sorted(moved), np.uint64).reshape(-1, 1 + len(MOVED))


def rewrite_look_ups(
    steps: Steps, switch: Switch, look_up: Sequence[LookUpPart], tars: Mapping[str, Manifest]
) -> tuple[LookUpPart, ...]:
    """Stage all buckets that change, and remove what no bucket is; the entries for the run's manifest.

    `tars` are the units that rewrote tars, by name. There are no entries where a bucket is damaged or gone: the next
    run makes the look-ups again.
    """
    run, folder = steps.place.run, steps.place.work / "look-ups"
    moves = {name: unit.files["moves"]["name"] if "moves" in unit.files else None for name, unit in tars.items()}
    payloads = [{"part": asdict(part), "tars": moves} for part in look_up]
    units = [Unit("look-up", digest(payload), f"{i:07d}", payload) for i, payload in enumerate(payloads)]
    done = steps.do("look-ups", bucket_unit, units)
    now = list[LookUpPart]()
    for part, unit in zip(look_up, done, strict=True):
        if unit.notes["damaged"]:
            now = []
            break
        now.append(part if unit.notes["part"] is None else LookUpPart(**unit.notes["part"]))
    for unit in done if now else ():
        for role, place in unit.notes["places"].items():
            switch.take(unit.path(folder, role), f"{run.look_up.name}/{place}")
    kept = {part.name for part in now} | {manifest_path(run.look_up, stem_of(part.name)).name for part in now}
    for name in files_below(run.look_up):
        if name.rpartition("/")[2] not in kept:
            switch.drop(f"{run.look_up.name}/{name}")
    return tuple(now)


def bucket_unit(unit: Unit, *, place: Place, folder: Location) -> Manifest:
    """A bucket with the places of today, and the manifest of its unit; nothing where no row of it is of such a tar."""
    run, part = place.run, LookUpPart(**unit.payload["part"])
    with Attempt(folder, unit) as attempt:
        if stated_hash(part.name) is None or not is_whole(run.path, part):
            return attempt.commit([], {"damaged": True, "part": None, "places": {}})
        with local_copy(run.look_up / part.name) as path:
            before = read_look_up(path)
        after = before
        for name, moves in unit.payload["tars"].items():
            after = _moved(after, shard_number(name), _read_moves(place.work / "tars", moves))
        if after is before:
            return attempt.commit([], {"damaged": False, "part": None, "places": {}})
        path = attempt.file("data", ".parquet")
        write_look_up(after, path)
        name, sha256, size = stem_of(part.name), file_sha256(path), path.stat().st_size
        facts = facts_of(part.kind, path)
        now = replace(part, name=content_name(name, sha256, ".parquet"), sha256=sha256, bytes=size, **facts)
        places = {"data": now.name}
        standing = read_manifest(run.look_up, name)
        if standing is not None:
            files = {"data": {"name": now.name, "sha256": sha256, "bytes": size}}
            value = Manifest(name, standing.stage, files, standing.ledgers, facts).to_json()
            attempt.file("manifest", ".json").write_bytes(as_json(value))
            where = manifest_path(run.look_up, name)
            places["manifest"] = f"{where.parent.name}/{where.name}"
        return attempt.commit([], {"damaged": False, "part": asdict(now), "places": places})


def _read_moves(folder: Location, name: str | None) -> Moves:
    if name is None:
        return NONE_STAYS
    moves: Moves = np.load(io.BytesIO(read_bytes(folder / name)), allow_pickle=False)
    return moves


def _moved(rows: pa.Table, shard: int, moves: Moves) -> pa.Table:
    """The rows of a bucket once a tar was rewritten: the same table where none is of that tar."""
    at = np.flatnonzero(rows["shard"].to_numpy() == shard)
    if not len(at):
        return rows
    columns = {name: rows[name].to_numpy().astype(np.uint64) for name in MOVED}
    places = np.searchsorted(moves[:, 0], columns["offset"][at])
    known = places < len(moves)
    known[known] = moves[places[known], 0] == columns["offset"][at[known]]
    stays = np.ones(rows.num_rows, np.bool_)
    stays[at] = known
    for column, name in enumerate(MOVED, 1):
        columns[name][at[known]] = moves[places[known], column]
        position, field = rows.schema.get_field_index(name), rows.schema.field(name)
        rows = rows.set_column(position, field, pa.array(columns[name]).cast(field.type))
    return rows.filter(pa.array(stays))
