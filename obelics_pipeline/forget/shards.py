"""The tars of a run, its index and its manifest without what is forgotten; a tar that has nothing of it is not touched.

Units find the tars, write each again, and then the parts of the index; all of them change together: see `switch`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from obelics_pipeline.core.commit import Attempt, Manifest, manifest_path, read_manifests, unit_names
from obelics_pipeline.core.content_name import content_name
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.shards.check_record import NotJson, parse_json
from obelics_pipeline.core.shards.flamingo_record import plain_members, shaped
from obelics_pipeline.core.shards.index import IndexWriter, fixed_columns, read_index, read_span
from obelics_pipeline.core.shards.manifest import (
    SHARDS,
    IndexPart,
    Promises,
    RunManifest,
    read_manifest,
    shard_entry,
    shard_tables,
)
from obelics_pipeline.core.shards.run_index import tars_of_parts
from obelics_pipeline.core.shards.shard_table import ShardEntry
from obelics_pipeline.core.shards.tar import Placed, ShardWriter, TarDamaged, read_members
from obelics_pipeline.core.storage import Location, draft_for, file_sha256, local_copy, read_schema, size_of
from obelics_pipeline.core.unit import Unit, digest
from obelics_pipeline.forget.gone import gone_at
from obelics_pipeline.forget.look_ups import moves_of, rewrite_look_ups
from obelics_pipeline.forget.place import Place
from obelics_pipeline.forget.record import without_images
from obelics_pipeline.forget.search import index_rows
from obelics_pipeline.forget.steps import Steps
from obelics_pipeline.forget.switch import Switch
from obelics_pipeline.forget.units import as_json
from obelics_pipeline.forget.values import ENDING
from obelics_pipeline.policy.forgotten import FORGOTTEN
from obelics_pipeline.stages.shard.finish import IMAGE_COUNT
from obelics_pipeline.stages.shard.index_parts import STEP

Row = dict[str, Any]
ROWS_AT_ONCE = 131_072  # of the index, in a unit that looks which tars are touched
COUNTS = ("documents", "images", "edited", "too_few", "freed")


@dataclass
class Rewritten:
    """The result of rewriting the shards."""

    documents: int = 0  # that went
    images: int = 0  # references that went with them, or out of documents that stay
    edited: int = 0  # documents that stay with fewer images
    too_few: int = 0  # of those that went: because too few of their images were left
    shards: tuple[str, ...] = ()  # rewritten
    removed: tuple[str, ...] = ()  # of which nothing is left
    freed: int = 0  # bytes


class Shards:
    """The published part of a run."""

    def __init__(self, steps: Steps, switch: Switch, look_into: bool) -> None:
        """`look_into`: every document is looked into, as nobody knows which have a forgotten image."""
        self._steps, self._switch, self._look_into = steps, switch, look_into
        self._run = steps.place.run

    def rewrite(self) -> Rewritten:
        """Stage all that changes; nothing has changed until the switch goes."""
        manifest = read_manifest(self._run.path)
        done = Rewritten()
        units = [self._tar(tar, manifest) for unit in self._touched(manifest) for tar in unit.notes["tars"]]
        written = dict[str, Manifest]()
        for unit, manifest_of_tar in zip(units, self._steps.do("tars", tar_unit, units), strict=True):
            if manifest_of_tar.notes["changed"]:
                written[unit.payload["name"]] = manifest_of_tar
        if not written:
            return done
        entries = dict[str, ShardEntry]()
        for name, unit_of_tar in written.items():
            self._stage(name, unit_of_tar, entries, done)
        left = [entries.get(entry.name, entry) for entry in manifest.shards if entry.name not in done.removed]
        spans = {unit.payload["name"]: (unit.payload["start"], unit.payload["stop"]) for unit in units}
        index = self._index(manifest, written, spans, set(done.removed))
        look_up = rewrite_look_ups(self._steps, self._switch, manifest.look_up, written)
        self._conclude(replace(manifest, shards=tuple(left), index=index, look_up=look_up), done)
        return done

    def _touched(self, manifest: RunManifest) -> list[Manifest]:
        """Which tars hold something."""
        units = list[Unit]()
        for part, entries in tars_of_parts(manifest):
            tars, start, stop = list[list[Any]](), 0, 0
            for i, entry in enumerate(entries):
                tars.append([entry.name, stop, stop + entry.documents])
                stop += entry.documents
                if stop - start >= ROWS_AT_ONCE or i == len(entries) - 1:
                    # of another index these are other rows: what was found in one says nothing of the next
                    payload = {"name": part.name, "start": start, "stop": stop, "tars": tars, "of": part.sha256}
                    payload["look_into"] = self._look_into
                    units.append(Unit("touched", digest("touched", payload), f"{len(units):07d}", payload))
                    tars, start = [], stop
        return self._steps.do("touched", touched_unit, units)

    def _tar(self, tar: list[Any], manifest: RunManifest) -> Unit:
        name, start, stop, part, sha256 = tar
        payload = {"name": name, "start": start, "stop": stop, "part": part, "of": sha256}
        payload |= {"promises": asdict(manifest.promises), "look_into": self._look_into}
        return Unit("tars", digest("tars", payload), Path(name).stem, payload)

    def _stage(self, name: str, unit: Manifest, entries: dict[str, ShardEntry], done: Rewritten) -> None:
        """A tar that changed, with its part of the index and the manifest of its unit."""
        folder, notes = self._steps.place.work / "tars", unit.notes
        for count in COUNTS:
            setattr(done, count, getattr(done, count) + notes[count])
        for role, place in notes["places"].items():
            self._switch.take(unit.path(folder, role), f"{SHARDS}/{place}")
        if notes["entry"] is not None:
            entries[name] = ShardEntry(**notes["entry"])
            done.shards = (*done.shards, name)
        else:
            done.removed = (*done.removed, name)
            self._switch.drop(f"{SHARDS}/{name}")
        for other in notes["old"]:
            self._switch.drop(f"{SHARDS}/{other}")

    def _index(
        self,
        manifest: RunManifest,
        written: Mapping[str, Manifest],
        spans: Mapping[str, tuple[int, int]],
        removed: set[str],
    ) -> tuple[IndexPart, ...]:
        """The files of the index; those with rows of tars that changed are written again. One without rows goes."""
        units, parts, tars = dict[str, Unit](), dict[str, IndexPart](), self._steps.place.work / "tars"
        for part, entries in tars_of_parts(manifest):
            names = [entry.name for entry in entries]
            parts[part.name] = replace(part, tars=sum(name not in removed for name in names))
            changed = [
                [*spans[name], written[name].files["index"]["name"] if "index" in written[name].files else None]
                for name in names
                if name in written
            ]
            if changed:
                payload = {"name": part.name, "tars": changed, "scores": list(manifest.promises.score_names)}
                units[part.name] = Unit("index", digest(payload, part.sha256), Path(part.name).stem, payload)
        done = dict(zip(units, self._steps.do("parts", part_unit, list(units.values())), strict=True))
        left = [name for name, part in parts.items() if part.tars] or list(parts)[:1]  # an empty run has an index too
        for name, unit in done.items():
            file = unit.files["data"]
            parts[name] = replace(parts[name], sha256=file["sha256"], bytes=file["bytes"])
            if name in left:
                self._switch.take(unit.path(tars.parent / "parts", "data"), name)
        for name in parts:
            if name not in left:
                self._switch.drop(name)
        for name, unit in read_manifests(self._run.path, unit_names(self._run.path, STEP)).items():
            if unit.files["data"]["name"] in done:  # the next run makes the part of other rows
                where = manifest_path(self._run.path, name)
                self._switch.drop(f"{where.parent.name}/{where.name}")
        return tuple(parts[name] for name in left)

    def _conclude(self, manifest: RunManifest, done: Rewritten) -> None:
        """The manifest, whose ledgers say what went."""
        ledgers = {noun: Ledger.from_json(noun, ledger.to_json()) for noun, ledger in manifest.ledgers.items()}
        if "documents" in ledgers:
            ledgers["documents"].kept -= done.documents
            for reason, n in ((FORGOTTEN, done.documents - done.too_few), (IMAGE_COUNT, done.too_few)):
                ledgers["documents"].dropped.update({reason: n} if n else {})
        if "images" in ledgers:
            ledgers["images"].kept -= done.images
            ledgers["images"].dropped.update({FORGOTTEN: done.images} if done.images else {})
        files = replace(manifest, ledgers=ledgers).files()
        for name, data in files.items():
            self._switch.stage_bytes(data, name)
        for name in shard_tables(self._run.path):
            if name not in files:
                self._switch.drop(name)


def touched_unit(unit: Unit, *, place: Place, folder: Location) -> Manifest:
    """The tars among some neighbours that hold a document that is gone, or one to be looked into."""
    gone, payload, start = gone_at(place), unit.payload, unit.payload["start"]
    names, touched = list[str](), list[bool]()
    for table in index_rows(place.run.path, payload, ["shard", "doc_id"]):
        ids = table["doc_id"].to_pylist()
        names += [Path(shard).name for shard in table["shard"].to_pylist()]
        lefts = gone.lefts(ids)
        touched += [
            payload["look_into"] or left is not None or gone.document(doc_id)
            for doc_id, left in zip(ids, lefts, strict=True)
        ]
    found = []
    for name, first, after in payload["tars"]:
        if names[first - start : after - start] != [name] * (after - first):
            raise UserError(
                f"{place.run.path}: {payload['name']} has other rows than the manifest; see obelics validate"
            )
        if any(touched[first - start : after - start]):
            found.append([name, first, after, payload["name"], payload["of"]])
    with Attempt(folder, unit) as attempt:
        return attempt.commit([], {"tars": found})


def tar_unit(unit: Unit, *, place: Place, folder: Location) -> Manifest:
    """A tar without what is gone, its rows of the index, and the manifest of its unit where one has it.

    Nothing where it has nothing of it after all.
    """
    tar = _Tar(place, unit)
    path = draft_for(folder, ".tar")
    try:
        with local_copy(place.run.shards / tar.name) as before, before.open("rb") as shard:
            rows = list(tar.rewrite(shard, path))
        counts = {"documents": tar.documents, "images": tar.images, "edited": tar.edited, "too_few": tar.too_few}
        with Attempt(folder, unit) as attempt:
            if not tar.documents and not tar.images:  # what was looked into had nothing
                return attempt.commit([], {"changed": False})
            size, entry, places = size_of(place.run.shards / tar.name) or 0, None, dict[str, str]()
            if rows:
                entry = replace(shard_entry(path, rows), name=tar.name)
                os.replace(path, attempt.file("data", ".tar"))
                places["data"] = tar.name
                index = attempt.file("index", ".parquet")
                with tar.index_writer(index) as writer:
                    for row in rows:
                        writer.write(row)
                with attempt.file("moves", ENDING).open("wb") as moves:
                    np.save(moves, moves_of(tar.before, rows), allow_pickle=False)
            old = tar.unit_after(attempt, index if rows else None, entry, places)
            freed = size - (entry.bytes if entry is not None else 0)
            told = {"changed": True, "entry": entry and asdict(entry), "places": places, "old": old, "freed": freed}
            return attempt.commit([], told | counts)
    finally:
        path.unlink(missing_ok=True)


class _Tar:
    """One tar on its way, and the counts of what goes of it (see `Rewritten`)."""

    def __init__(self, place: Place, unit: Unit) -> None:
        self._run, self._gone, self._look_into = place.run, gone_at(place), unit.payload["look_into"]
        promises = unit.payload["promises"]
        self._promises = Promises(**promises | {"score_names": tuple(promises["score_names"])})
        self._part, self.name = self._run.path / unit.payload["part"], str(unit.payload["name"])
        self.before = read_span(self._part, unit.payload["start"], unit.payload["stop"])
        self.documents = self.images = self.edited = self.too_few = 0

    def index_writer(self, path: Path) -> IndexWriter:
        """A writer of rows with the columns of the run's index."""
        return index_writer(path, self._part, self._promises.score_names)

    def rewrite(self, shard: IO[bytes], path: Path) -> Iterator[Row]:
        """Write the documents that stay to another tar; their rows of the index."""
        size = shard.seek(0, 2)
        lefts = self._gone.lefts([row["doc_id"] for row in self.before])
        writer: ShardWriter | None = None
        try:
            for row, left in zip(self.before, lefts, strict=True):
                doc_id = row["doc_id"]
                if self._gone.document(doc_id):
                    self.documents, self.images = self.documents + 1, self.images + row["n_images"]
                    continue
                placed, prefix = Placed(row["offset"], row["length"]), f"{doc_id}."
                members = [(m.name.removeprefix(prefix), m.stream.read()) for m in read_members(shard, placed, size)]
                if self._look_into or left is not None:
                    found = self._edited(members)
                    if found is not None:
                        members, counts = found
                        self.images += row["n_images"] - counts["n_images"]
                        if counts["n_images"] < self._promises.min_images:
                            self.documents, self.too_few = self.documents + 1, self.too_few + 1
                            self.images += counts["n_images"]
                            continue
                        self.edited += 1
                        row = row | counts
                writer = writer or ShardWriter(path)
                at = writer.append(doc_id, members)
                yield row | {"offset": at.offset, "length": at.length}
        except (TarDamaged, NotJson, KeyError, TypeError, ValueError) as error:
            why = " ".join(str(error).split())[:200]
            where = self._run.shards / self.name
            raise UserError(f"{where}: cannot be read ({why}); see obelics validate") from None
        finally:
            if writer is not None:
                writer.close()

    def _edited(self, members: list[tuple[str, bytes]]) -> tuple[list[tuple[str, bytes]], Row] | None:
        """A document's members without its forgotten images, and what changes in its row; None where it has none."""
        plain = plain_members(dict(members))
        images = {name: data for name, data in plain.items() if name != "json"}
        found = without_images(parse_json(plain["json"]), images, self._gone.image)
        if found is None:
            return None
        record, contents = found
        form: Any = self._promises.format
        shown = shaped(record, form)
        counts = {
            "content_sha256": shown.content_sha256,
            "n_texts": shown.n_texts,
            "n_images": shown.n_images,
            "n_files": len(shown.files),
        }
        return list(shown.members(lambda file: contents[file.name])), counts

    def unit_after(
        self, attempt: Attempt, index: Path | None, entry: ShardEntry | None, places: dict[str, str]
    ) -> list[str]:
        """Write the manifest of the unit of the tar, and note where its files go; the files that it no longer has."""
        unit = self._unit()
        if unit is None:
            return []
        files: dict[str, dict[str, Any]] = {}
        sums = dict.fromkeys(("documents", "texts", "images", "files"), 0)
        old = [file["name"] for role, file in unit.files.items() if role != "data"]
        if entry is not None and index is not None:
            sums = {key: getattr(entry, key) for key in sums}
            sha256, size = file_sha256(index), index.stat().st_size
            places["index"] = f"index/{content_name(unit.unit, sha256, '.parquet')}"
            files["data"] = {"name": self.name, "sha256": entry.sha256, "bytes": entry.bytes}
            files["index"] = {"name": places["index"], "sha256": sha256, "bytes": size}
            old = [other for other in old if other != places["index"]]
        value = Manifest(unit.unit, unit.stage, files, unit.ledgers, sums).to_json()
        where = manifest_path(self._run.shards, unit.unit)
        attempt.file("manifest", ".json").write_bytes(as_json(value))
        places["manifest"] = f"{where.parent.name}/{where.name}"
        return old

    def _unit(self) -> Manifest | None:
        """The unit of the tar: it has the tar's name for a label."""
        found = read_manifests(self._run.shards, unit_names(self._run.shards, Path(self.name).stem))
        return next((m for m in found.values() if m.files and m.files["data"]["name"] == self.name), None)


def part_unit(unit: Unit, *, place: Place, folder: Location) -> Manifest:
    """A file of the index with other rows for the tars that changed."""
    before, tars = place.run.path / unit.payload["name"], place.work / "tars"
    changed = {start: (stop, name) for start, stop, name in unit.payload["tars"]}
    with Attempt(folder, unit) as attempt:
        skip = 0
        with index_writer(attempt.file("data", ".parquet"), before, unit.payload["scores"]) as writer:
            for number, row in enumerate(read_index(before)):
                if number in changed:
                    skip, name = changed[number]
                    for new in read_index(tars / name) if name is not None else ():
                        writer.write(new)
                if number >= skip:
                    writer.write(row)
        return attempt.commit([])


def index_writer(path: Path, like: Location, scores: tuple[str, ...]) -> IndexWriter:
    """A writer of an index with the columns of another."""
    return IndexWriter(path, scores, fixed_columns(read_schema(like)))
