"""The committed units of a run, rewritten where they hold what is forgotten, and still the units that they were.

A manifest names the file that is there now, and keeps the sha256 of the file that was: the ids of later units follow
from that, so that nothing that is done is done again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.commit import (
    NOW,
    Manifest,
    manifest_path,
    note,
    note_of,
    read_manifest,
    read_manifests,
    recall,
    unit_names,
)
from obelics_pipeline.core.content_name import content_name, stated_hash, stem_of
from obelics_pipeline.core.document import DOCUMENT_DROPPED
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.shards.index import is_index
from obelics_pipeline.core.storage import (
    Location,
    draft_for,
    file_sha256,
    put,
    read_schema,
    read_table,
    remove,
    size_of,
    write_bytes,
)
from obelics_pipeline.core.unit import label_of_unit
from obelics_pipeline.forget import documents
from obelics_pipeline.forget.edits import edit_of, without_keys
from obelics_pipeline.forget.gone import Gone
from obelics_pipeline.jobs.noted import stages_in
from obelics_pipeline.policy.forgotten import FORGOTTEN
from obelics_pipeline.stages.dedup.keepers import REASONS
from obelics_pipeline.stages.fetch.result import ANSWER_SCHEMA, results_from_table
from obelics_pipeline.stages.fetch.stage import ledger_of_results
from obelics_pipeline.stages.site.sharing import KEYS
from obelics_pipeline.stages.stage import Stage

ROWS_PER_GROUP = 100_000


class Rewriter:
    """Rewrites units of one run. What one does is done by one process; different units know nothing of each other."""

    def __init__(self, run: RunFolder, gone: Gone) -> None:
        self._run, self._gone = run, gone
        self.files, self.freed = 0, 0  # rewritten, and bytes that they lost
        self.images: set[str] = set()  # sha256 of those in packs that are fetched no more

    def units(self, kind: str, folder: str, names: Sequence[str]) -> None:
        """Rewrite some units of a folder of the run, by what it holds (see `KINDS`)."""
        where = self._run.path / folder
        for _, manifest in sorted(read_manifests(where, names).items()):
            KINDS[kind](self, where, manifest)

    def loose(self, place: Location) -> str | None:
        """Edit a Parquet file that no unit's manifest names.

        A piece of a shuffle gets another name, that of its content: it is returned, and `follow` brings the piece to
        be known by it.
        """
        names = read_schema(place).names
        edit = edit_of(names, self._gone)
        if edit is None or is_index(names):
            return None
        table = read_table(place)
        edited = edit(table)
        if edited is table:
            return None
        path = draft_for(place.parent, place.suffix)
        try:
            _write(edited, path)
            self._count(size_of(place) or 0, path.stat().st_size)
            if stated_hash(place.name) is None:
                put(path, place)
                return None
            name = content_name(stem_of(place.name), file_sha256(path), ".parquet")
            put(path, place.parent / name)
            return name
        finally:
            path.unlink(missing_ok=True)

    def _plain(self, folder: Location, manifest: Manifest) -> None:
        """A unit of tables that are edited by their columns alone."""
        tables = {role: self._edited(manifest.path(folder, role)) for role in manifest.files}
        if "own" in manifest.files:
            tables["own"] = self._own(folder, manifest)
        if tables.get("own") is not None and read_schema(manifest.path(folder, "data")).equals(KEYS):
            counted, before = (read_table(manifest.path(folder, role)) for role in ("data", "own"))
            tables["data"] = without_keys(counted, before, tables["own"])
        self._commit(folder, manifest, tables)

    def _edited(self, place: Location) -> pa.Table | None:
        edit = edit_of(read_schema(place).names, self._gone)
        if edit is None:
            return None
        table = read_table(place)
        edited = edit(table)
        return None if edited is table else edited

    def _own(self, folder: Location, manifest: Manifest) -> pa.Table | None:
        """Edit a step's file with one row per kept document, in their order, without ids."""
        source = self._documents_before(folder.name, manifest.notes["partition"])
        if source is None:
            return None
        kept, positions = documents.kept_positions(source[0], self._gone)
        table = read_table(manifest.path(folder, "own"))
        if not positions or table.num_rows != kept:
            return None
        return table.take(pa.array(sorted(set(range(kept)).difference(positions)), pa.int64()))

    def _documents_before(self, step: str, partition: str) -> tuple[Location, Stage] | None:
        """The file of documents of a partition that the stage of a step read, and the stage that it is of."""
        before = [s for s in takewhile(lambda stage: not stage.owns(step), stages_in(self._run)) if s.documents]
        for stage in reversed(before):
            where = stage.folder(self._run.path)
            for unit in _labelled(where, partition):
                if unit.notes.get("partition", unit.unit) == partition:
                    return unit.path(where, "data"), stage
        return None

    def _passed(self, folder: Location, manifest: Manifest) -> None:
        """Which documents passed, and which of these are duplicates: one is counted by the other."""
        settled, documents_unit = self._run.shuffled / "settled", manifest.notes["documents"]
        before = read_table(manifest.path(folder, "data"))
        edit = edit_of(before.schema.names, self._gone)
        assert edit is not None, "it names documents"
        table = self._recounted(edit(before))
        for verdict in _labelled(settled, documents_unit):
            if verdict.notes["documents"] == documents_unit:
                rows = self._edited(verdict.path(settled, "data"))
                now = rows if rows is not None else read_table(verdict.path(settled, "data"))
                self._commit(settled, verdict, {"data": rows}, _settled_ledgers(table, now))
        self._commit(folder, manifest, {"data": None if table is before else table})

    def _recounted(self, passed: pa.Table) -> pa.Table:
        """With the images that documents keep."""
        lefts = self._gone.lefts([doc.hex() for doc in passed["doc"].to_pylist()])
        counts = [n if left is None else left for left, n in zip(lefts, passed["images"].to_pylist(), strict=True)]
        column = pa.array(counts, pa.int32())
        at = passed.schema.get_field_index("images")
        same = passed["images"].combine_chunks().equals(column)
        return passed if same else passed.set_column(at, passed.schema.field(at), column)

    def _fetched(self, folder: Location, manifest: Manifest) -> None:
        """Edit the results of image URLs."""
        tables = {role: self._edited(manifest.path(folder, role)) for role in manifest.files}
        data = tables.get("data")
        ledgers = None
        if data is not None and set(data.schema.names) >= set(ANSWER_SCHEMA.names):
            ledgers = {"urls": ledger_of_results(results_from_table(data))}
            self.images |= _in_packs(read_table(manifest.path(folder, "data"))) - _in_packs(data)
        self._commit(folder, manifest, tables, ledgers)

    def _measured(self, folder: Location, manifest: Manifest) -> None:
        """Edit the scores of models: a row per kept document, with a value per kept image."""
        table = self._edited(manifest.path(folder, "data"))
        now = table if table is not None else read_table(manifest.path(folder, "data"))
        source = read_manifest(self._run.assembled, manifest.notes.get("documents", ""))
        ids = now["doc_id"].to_pylist()
        here = {i: n for i, n in zip(ids, self._gone.lefts(ids), strict=True) if n is not None}
        if source is not None and here:
            stay = documents.image_places(source.path(self._run.assembled, "data"), here, self._gone)
            rows = now.to_pylist()
            of_images = [field.name for field in now.schema if pa.types.is_list(field.type)]
            for row in rows:
                places = stay.get(row["doc_id"])
                for name in of_images:
                    values = row[name]
                    if places is not None and values is not None and len(values) > len(places):
                        row[name] = [values[i] for i in places]
            table = pa.Table.from_pylist(rows, now.schema)
        self._commit(folder, manifest, {"data": table})

    def _documents(self, folder: Location, manifest: Manifest) -> None:
        stage = next(s for s in stages_in(self._run) if s.documents and s.folder(self._run.path) == folder)
        place = manifest.path(folder, "data")
        records = self._records(folder, manifest)
        carried = self._edited(manifest.path(folder, "carried")) if "carried" in manifest.files else None
        if not documents.is_touched(place, stage, self._gone):
            if records is not None:
                self._commit(folder, manifest, {"records": records[0]}, {"records": records[1]})
            return
        path = draft_for(folder, ".parquet")
        try:
            documents.rewrite(place, path, stage, self._gone)
            ledgers, notes = documents.counted(path, stage, manifest, self._arrived(stage, manifest))
            files: dict[str, pa.Table | Path | None] = {"data": path, "carried": carried}
            if records is not None:
                files["records"], ledgers["records"] = records
            self._commit(folder, manifest, files, ledgers, notes)
        finally:
            path.unlink(missing_ok=True)

    def _arrived(self, stage: Stage, manifest: Manifest) -> set[str] | None:
        """The documents that came to a stage, of the partition of a unit, without those that are forgotten; None for
        all.
        """
        source = self._documents_before(stage.name, manifest.notes.get("partition", manifest.unit))
        return None if source is None else documents.arrived(*source, self._gone)

    def _records(self, folder: Location, manifest: Manifest) -> tuple[pa.Table, Ledger] | None:
        """The records of a unit without those that are forgotten, and their ledger."""
        if "records" not in manifest.files:
            return None
        before = read_table(manifest.path(folder, "records"))
        edit = edit_of(before.schema.names, self._gone)
        assert edit is not None, "they have addresses"
        after = edit(before)
        if after is before:
            return None
        ledger = Ledger.from_json("records", manifest.ledgers["records"].to_json())
        for old, new in zip(before["outcome"].to_pylist(), after["outcome"].to_pylist(), strict=True):
            if old == "kept" != new:
                ledger.kept -= 1
                ledger.dropped[FORGOTTEN] += 1
        return after, ledger

    def _commit(
        self,
        folder: Location,
        manifest: Manifest,
        files: Mapping[str, pa.Table | Path | None],
        ledgers: Mapping[str, Ledger] | None = None,
        notes: Mapping[str, Any] | None = None,
    ) -> None:
        """Move the changed files to their final paths, then the manifest that names them; then remove the old ones."""
        changed = {role: value for role, value in files.items() if value is not None}
        counts = manifest.ledgers | dict(ledgers or {})
        if not changed and counts == manifest.ledgers:
            return
        value = Manifest(manifest.unit, manifest.stage, dict(manifest.files), counts, dict(notes or manifest.notes))
        old = []
        for role, content in changed.items():
            entry = manifest.files[role]
            value.files[role], place = _published(folder, manifest, role, content)
            if place.name != Path(entry["name"]).name:
                old.append(folder / entry["name"])
            self._count(entry["bytes"], value.files[role]["bytes"])
        write_bytes(manifest_path(folder, manifest.unit), as_json(value.to_json()))
        remove(old)

    def _count(self, before: int, after: int) -> None:
        self.files += 1
        self.freed += before - after


def _in_packs(results: pa.Table) -> set[str]:
    return {result.sha256 for result in results_from_table(results) if result.sha256 and result.pack is not None}


def _published(
    folder: Location, manifest: Manifest, role: str, content: pa.Table | Path
) -> tuple[dict[str, Any], Location]:
    """Move one file of a unit to its final path; returns its entry for the manifest."""
    entry = manifest.files[role]
    path = content if isinstance(content, Path) else draft_for(folder, ".parquet")
    try:
        if not isinstance(content, Path):
            _write(content, path)
        now, size = file_sha256(path), path.stat().st_size
        name = content_name(manifest.unit, now, ".parquet")
        name = name if role == "data" else f"{role}/{name}"
        put(path, folder / name)
    finally:
        path.unlink(missing_ok=True)
    return {"name": name, "sha256": entry["sha256"], "bytes": size, NOW: now}, folder / name


KINDS: Mapping[str, Callable[[Rewriter, Location, Manifest], None]] = {
    "plain": Rewriter._plain,
    "passed": Rewriter._passed,
    "fetched": Rewriter._fetched,
    "measured": Rewriter._measured,
    "documents": Rewriter._documents,
}


def follow(folder: Location, names: Mapping[str, str]) -> None:
    """Bring the pieces of a shuffle to be known by other names, from the old ones; then the old pieces go.

    The note of the shuffle names them now. It keeps the sha256 of the pieces that were, as manifests do.
    """
    where = note_of(folder / next(iter(names)))
    if size_of(where) is not None:
        groups: dict[str, Any] = recall(where)
        for group in groups.values():
            for entry in group["pieces"].values():
                entry["name"] = names.get(entry["name"], entry["name"])
        note(where, groups)
    remove(folder / name for name, new in names.items() if name != new)


def _labelled(folder: Location, partition: str) -> Iterator[Manifest]:
    """The units with the label of a partition, in the order of their names: one of them is about it."""
    names = unit_names(folder, label_of_unit(partition.partition("@")[0]))
    yield from (manifest for _, manifest in sorted(read_manifests(folder, names).items()))


def _settled_ledgers(passed: pa.Table, settled: pa.Table) -> dict[str, Ledger]:
    """The ledgers as `keepers.settle_unit` counts them, of the documents that passed and still exist."""
    documents_, images = Ledger("documents"), Ledger("images")
    reasons = dict(zip(settled["row"].to_pylist(), settled["reason"].to_pylist(), strict=True))
    for row, n in _pairs(passed, "row", "images"):
        reason = reasons.get(row)
        if reason is None:
            documents_.keep()
            images.keep(n)
            continue
        documents_.drop(reason if reason in REASONS.values() else FORGOTTEN)
        if n:
            images.drop(DOCUMENT_DROPPED, n)
    return {"documents": documents_, "images": images}


def _pairs(table: pa.Table, *columns: str) -> Iterator[tuple[Any, ...]]:
    return zip(*(table[name].to_pylist() for name in columns), strict=True)


def _write(table: pa.Table, path: Path) -> None:
    pq.write_table(table, path, compression="zstd", row_group_size=ROWS_PER_GROUP)


def as_json(value: Any) -> bytes:
    """The JSON of a unit's manifest, as it is stored."""
    return (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode()
