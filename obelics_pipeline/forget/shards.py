"""The tars of a run, its index and its manifest without what is forgotten; a tar that has nothing of it is not touched.

All of them change together: see `switch`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import IO, Any

from obelics_pipeline.core.commit import Manifest, manifest_path, read_manifests, unit_names
from obelics_pipeline.core.content_name import content_name
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.shards.check_record import NotJson, parse_json
from obelics_pipeline.core.shards.flamingo_record import plain_members, shaped
from obelics_pipeline.core.shards.index import IndexWriter, fixed_columns
from obelics_pipeline.core.shards.manifest import (
    SHARDS,
    IndexPart,
    RunManifest,
    ShardEntry,
    index_part,
    read_manifest,
    shard_entry,
)
from obelics_pipeline.core.shards.run_index import RunIndex, demand_index, tars_of_parts
from obelics_pipeline.core.shards.tar import Placed, ShardWriter, TarDamaged, read_members
from obelics_pipeline.core.storage import file_sha256, local_copy, size_of
from obelics_pipeline.forget.look_ups import Moves, rewrite_look_ups
from obelics_pipeline.forget.record import without_images
from obelics_pipeline.forget.switch import Switch
from obelics_pipeline.forget.units import as_json
from obelics_pipeline.policy.forgotten import FORGOTTEN
from obelics_pipeline.stages.shard.finish import IMAGE_COUNT
from obelics_pipeline.stages.shard.index_parts import STEP

Row = dict[str, Any]
ImageGone = Callable[[str, bytes | None], bool]  # its address, and its bytes where there are any


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

    def __init__(self, run: RunFolder, is_gone: Callable[[str], bool], image_gone: ImageGone) -> None:
        """`is_gone` says of a doc_id whether it is forgotten."""
        self._run, self._is_gone, self._image_gone = run, is_gone, image_gone
        self._moves = Moves()

    def rewrite(self, switch: Switch, edited: Callable[[str], bool]) -> Rewritten:
        """Stage all that changes; nothing has changed until the switch goes. `edited`: which documents to look into."""
        manifest = read_manifest(self._run.path)
        done, units = Rewritten(), self._units()
        parts, kept = list[tuple[IndexPart, Path | None]](), list[ShardEntry]()
        for part, tars in tars_of_parts(manifest):
            if not any(self._is_gone(row["doc_id"]) or edited(row["doc_id"]) for row in self._rows(part, ["doc_id"])):
                parts.append((part, None))
                kept += tars
                continue
            path = switch.draft(".parquet")
            before = (done.shards, done.removed)
            entries = self._part(part, tars, path, manifest, units, switch, edited, done)
            if (done.shards, done.removed) == before:
                path.unlink(missing_ok=True)
                parts.append((part, None))
                kept += tars
            else:
                parts.append((replace(index_part(path, len(entries)), name=part.name), path))
                kept += entries
        if done.shards or done.removed:
            self._conclude(switch, manifest, kept, parts, done)
        return done

    def _part(
        self,
        part: IndexPart,
        tars: Sequence[ShardEntry],
        index_draft: Path,
        manifest: RunManifest,
        units: Mapping[str, Manifest],
        switch: Switch,
        edited: Callable[[str], bool],
        done: Rewritten,
    ) -> list[ShardEntry]:
        """Stage what changes of the tars of a part of the index, and write the part again; the tars that are left."""
        entries, names = dict[str, ShardEntry](), list[str]()
        entry_of = {entry.name: entry for entry in tars}
        with self._writer(index_draft, manifest) as index:
            for name, rows in self._by_shard(part):
                names.append(name)
                if not any(self._is_gone(row["doc_id"]) or edited(row["doc_id"]) for row in rows):
                    entries[name] = entry_of[name]
                else:
                    before = (done.documents, done.images)
                    path = switch.draft(".tar")
                    with local_copy(self._run.shards / name) as tar, tar.open("rb") as shard:
                        new = list(self._shard(shard, rows, path, name, manifest, edited, done))
                    if (done.documents, done.images) == before:
                        path.unlink(missing_ok=True)  # what was looked into had nothing
                        entries[name] = entry_of[name]
                    else:
                        self._moves.add(name, rows, new)
                        self._stage(switch, name, path, new, manifest, units.get(name), entries, done)
                        rows = new
                for row in rows:
                    index.write(row)
        return [entries[name] for name in names if name in entries]

    def _writer(self, path: Path, manifest: RunManifest) -> IndexWriter:
        """A writer of an index with the columns of the run's."""
        return IndexWriter(path, manifest.promises.score_names, fixed_columns(demand_index(self._run.path).schema()))

    def _rows(self, part: IndexPart, columns: Sequence[str] | None = None) -> Iterator[Row]:
        return RunIndex(self._run.path, (part.name,)).rows(columns)

    def _by_shard(self, part: IndexPart) -> Iterator[tuple[str, list[Row]]]:
        for name, rows in groupby(self._rows(part), lambda row: str(row["shard"])):
            yield Path(name).name, list(rows)

    def _shard(
        self,
        shard: IO[bytes],
        rows: list[Row],
        path: Path,
        name: str,
        manifest: RunManifest,
        edited: Callable[[str], bool],
        done: Rewritten,
    ) -> Iterator[Row]:
        """Write the documents of one tar that stay to another; their rows of the index."""
        size = shard.seek(0, 2)
        writer: ShardWriter | None = None
        try:
            for row in rows:
                doc_id = row["doc_id"]
                if self._is_gone(doc_id):
                    done.documents, done.images = done.documents + 1, done.images + row["n_images"]
                    continue
                placed, prefix = Placed(row["offset"], row["length"]), f"{doc_id}."
                members = [(m.name.removeprefix(prefix), m.stream.read()) for m in read_members(shard, placed, size)]
                if edited(doc_id):
                    found = self._edited(members, row, manifest)
                    if found is not None:
                        members, counts = found
                        done.images += row["n_images"] - counts["n_images"]
                        if counts["n_images"] < manifest.promises.min_images:
                            done.documents, done.too_few = done.documents + 1, done.too_few + 1
                            done.images += counts["n_images"]
                            continue
                        done.edited += 1
                        row = row | counts
                writer = writer or ShardWriter(path)
                at = writer.append(doc_id, members)
                yield row | {"offset": at.offset, "length": at.length}
        except (TarDamaged, NotJson, KeyError, TypeError, ValueError) as error:
            why = " ".join(str(error).split())[:200]
            raise UserError(f"{self._run.shards / name}: cannot be read ({why}); see obelics validate") from None
        finally:
            if writer is not None:
                writer.close()

    def _edited(
        self, members: list[tuple[str, bytes]], row: Row, manifest: RunManifest
    ) -> tuple[list[tuple[str, bytes]], Row] | None:
        """A document's members without its forgotten images, and what changes in its row; None where it has none."""
        plain = plain_members(dict(members))
        images = {name: data for name, data in plain.items() if name != "json"}
        found = without_images(parse_json(plain["json"]), images, self._image_gone)
        if found is None:
            return None
        record, contents = found
        form: Any = manifest.promises.format
        shown = shaped(record, form)
        counts = {
            "content_sha256": shown.content_sha256,
            "n_texts": shown.n_texts,
            "n_images": shown.n_images,
            "n_files": len(shown.files),
        }
        return list(shown.members(lambda file: contents[file.name])), counts

    def _stage(
        self,
        switch: Switch,
        name: str,
        path: Path,
        rows: list[Row],
        manifest: RunManifest,
        unit: Manifest | None,
        entries: dict[str, ShardEntry],
        done: Rewritten,
    ) -> None:
        """A tar that changed, with its part of the index and the manifest of its unit."""
        before = size_of(self._run.shards / name) or 0
        files: dict[str, dict[str, Any]] = {}
        sums = dict.fromkeys(("documents", "texts", "images", "files"), 0)
        old = [entry["name"] for role, entry in unit.files.items() if role != "data"] if unit is not None else []
        if rows:
            entry = replace(shard_entry(path, rows), name=name)
            entries[name] = entry
            sums = {key: getattr(entry, key) for key in sums}
            done.freed += before - entry.bytes
            if unit is not None:
                part = switch.draft(".parquet")
                with self._writer(part, manifest) as writer:
                    for row in rows:
                        writer.write(row)
                sha256, size = file_sha256(part), part.stat().st_size
                place = f"index/{content_name(unit.unit, sha256, '.parquet')}"
                files["data"] = {"name": name, "sha256": entry.sha256, "bytes": entry.bytes}
                files["index"] = {"name": place, "sha256": sha256, "bytes": size}
                switch.stage(part, f"{SHARDS}/{place}")
                old = [other for other in old if other != place]
            switch.stage(path, f"{SHARDS}/{name}")
            done.shards = (*done.shards, name)
        else:
            done.freed += before
            done.removed = (*done.removed, name)
            switch.drop(f"{SHARDS}/{name}")
        if unit is not None:
            value = Manifest(unit.unit, unit.stage, files, unit.ledgers, sums).to_json()
            where = manifest_path(self._run.shards, unit.unit)
            switch.stage_bytes(as_json(value), f"{SHARDS}/{where.parent.name}/{where.name}")
        for other in old:
            switch.drop(f"{SHARDS}/{other}")

    def _conclude(
        self,
        switch: Switch,
        manifest: RunManifest,
        entries: list[ShardEntry],
        parts: list[tuple[IndexPart, Path | None]],
        done: Rewritten,
    ) -> None:
        """The parts of the index that changed, and the manifest, whose ledgers say what went."""
        ledgers = {noun: Ledger.from_json(noun, ledger.to_json()) for noun, ledger in manifest.ledgers.items()}
        if "documents" in ledgers:
            ledgers["documents"].kept -= done.documents
            for reason, n in ((FORGOTTEN, done.documents - done.too_few), (IMAGE_COUNT, done.too_few)):
                ledgers["documents"].dropped.update({reason: n} if n else {})
        if "images" in ledgers:
            ledgers["images"].kept -= done.images
            ledgers["images"].dropped.update({FORGOTTEN: done.images} if done.images else {})
        left = [part for part, _ in parts if part.tars] or [parts[0][0]]  # an empty run has an index too
        changed = {part.name for part, path in parts if path is not None}
        for part, path in parts:
            if path is not None and part in left:
                switch.stage(path, part.name)
            elif part not in left:
                switch.drop(part.name)
                if path is not None:
                    path.unlink()
        for name, unit in read_manifests(self._run.path, unit_names(self._run.path, STEP)).items():
            if unit.files["data"]["name"] in changed:  # the next run makes the part of other rows
                where = manifest_path(self._run.path, name)
                switch.drop(f"{where.parent.name}/{where.name}")
        look_up = rewrite_look_ups(self._run, switch, manifest.look_up, self._moves)
        value = replace(manifest, shards=tuple(entries), index=tuple(left), ledgers=ledgers, look_up=look_up)
        text = json.dumps(value.to_json(), ensure_ascii=False, indent=1) + "\n"
        switch.stage_bytes(text.encode(), self._run.manifest.name)

    def _units(self) -> Mapping[str, Manifest]:
        """The units of tars, by the name of the tar."""
        found = read_manifests(self._run.shards, unit_names(self._run.shards))
        return {m.files["data"]["name"]: m for m in found.values() if m.files}
