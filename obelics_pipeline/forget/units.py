"""The committed units of a run, rewritten where they hold what is forgotten, and still the units that they were.

A manifest names the file that is there now, and keeps the sha256 of the file that was: the ids of later units follow
from that, so that nothing that is done is done again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.commit import Manifest, manifest_path, note, note_of, read_manifests, recall, unit_names
from obelics_pipeline.core.content_name import content_name, stated_hash, stem_of
from obelics_pipeline.core.document import DOCUMENT_DROPPED
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.shards.index import is_index
from obelics_pipeline.core.storage import (
    Location,
    draft_for,
    file_sha256,
    files_below,
    put,
    read_schema,
    read_table,
    remove,
    size_of,
    write_bytes,
)
from obelics_pipeline.forget import documents
from obelics_pipeline.forget.edits import edit_of, without_keys
from obelics_pipeline.forget.gone import Gone
from obelics_pipeline.forget.pending import ToForget
from obelics_pipeline.jobs.noted import stages_in
from obelics_pipeline.policy.forgotten import FORGOTTEN
from obelics_pipeline.stages.dedup.keepers import REASONS
from obelics_pipeline.stages.fetch.result import ANSWER_SCHEMA, results_from_table
from obelics_pipeline.stages.fetch.stage import ledger_of_results
from obelics_pipeline.stages.site.sharing import KEYS
from obelics_pipeline.stages.stage import Stage

ROWS_PER_GROUP = 100_000
NOW = "now"  # key of a file in a manifest: the sha256 of what is there, where that is not what was committed


class Rewriter:
    """Rewrites the files of one run."""

    def __init__(self, run: RunFolder, gone: Gone, found: ToForget) -> None:
        self._run, self._gone, self._found = run, gone, found
        self._too_few = set(found.too_few)
        self.files, self.freed = 0, 0  # rewritten, and bytes that they lost
        self.images: set[str] = set()  # sha256 of those in packs that are fetched no more

    def units(self) -> None:
        """Rewrite all units except tars. Extracted documents come last: after a kill the rest is found by them."""
        shuffled = self._run.shuffled
        for name in _folders(shuffled):
            if name not in ("passed", "settled"):
                self._plain(shuffled / name)
        self._settled()
        self._plain(self._run.requests)
        self._plain(self._run.consent_answers)
        self._fetched()
        self._measured()
        for stage in reversed(stages_in(self._run)):
            if stage.documents:
                self._documents(stage)

    def loose(self, place: Location) -> None:
        """Edit a Parquet file that no unit's manifest names."""
        names = read_schema(place).names
        edit = edit_of(names, self._gone)
        if edit is None or is_index(names):
            return
        table = read_table(place)
        edited = edit(table)
        if edited is not table:
            path = draft_for(place.parent, place.suffix)
            try:
                _write(edited, path)
                self._count(size_of(place) or 0, path.stat().st_size)
                if stated_hash(place.name) is None:
                    put(path, place)
                else:
                    _put_piece(path, place)
            finally:
                path.unlink(missing_ok=True)

    def _plain(self, folder: Location) -> None:
        """Units of tables that are edited by their columns alone."""
        for manifest in _units(folder):
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
        source = self._documents_before(folder.name).get(manifest.notes["partition"])
        if source is None:
            return None
        kept, positions = documents.kept_positions(source[0], self._gone)
        table = read_table(manifest.path(folder, "own"))
        if not positions or table.num_rows != kept:
            return None
        return table.take(sorted(set(range(kept)).difference(positions)))

    @cache  # noqa: B019 (a rewriter lives as long as its run is looked at)
    def _documents_before(self, step: str) -> dict[str, tuple[Location, Stage]]:
        """The file of documents of each partition that the stage of a step read, and the stage that it is of."""
        before = takewhile(lambda stage: not stage.owns(step), stages_in(self._run))
        folders = [(stage.folder(self._run.path), stage) for stage in before if stage.documents]
        return {
            unit.notes.get("partition", unit.unit): (unit.path(where, "data"), stage)
            for where, stage in folders
            for unit in _units(where)
        }

    def _settled(self) -> None:
        """Which documents passed, and which of these are duplicates: one is counted by the other."""
        passed, settled = self._run.shuffled / "passed", self._run.shuffled / "settled"
        verdicts = {m.notes["documents"]: m for m in _units(settled)}
        for manifest in _units(passed):
            place = manifest.path(passed, "data")
            before = read_table(place)
            edit = edit_of(before.schema.names, self._gone)
            assert edit is not None, "it names documents"
            table = self._recounted(edit(before))
            verdict = verdicts.get(manifest.notes["documents"])
            if verdict is not None:
                rows = self._edited(verdict.path(settled, "data"))
                now = rows if rows is not None else read_table(verdict.path(settled, "data"))
                ledgers = _settled_ledgers(table, now)
                self._commit(settled, verdict, {"data": rows}, ledgers)
            self._commit(passed, manifest, {"data": None if table is before else table})

    def _recounted(self, passed: pa.Table) -> pa.Table:
        """With the images that documents keep."""
        counts = [self._found.edited.get(doc.hex(), n) for doc, n in _pairs(passed, "doc", "images")]
        column = pa.array(counts, pa.int32())
        at = passed.schema.get_field_index("images")
        same = passed["images"].combine_chunks().equals(column)
        return passed if same else passed.set_column(at, passed.schema.field(at), column)

    def _fetched(self) -> None:
        """Edit the results of image URLs."""
        folder = self._run.fetch
        for manifest in _units(folder):
            tables = {role: self._edited(manifest.path(folder, role)) for role in manifest.files}
            data = tables.get("data")
            ledgers = None
            if data is not None and set(data.schema.names) >= set(ANSWER_SCHEMA.names):
                ledgers = {"urls": ledger_of_results(results_from_table(data))}
                before = read_table(manifest.path(folder, "data"))
                self.images |= _in_packs(before) - _in_packs(data)
            self._commit(folder, manifest, tables, ledgers)

    def _measured(self) -> None:
        """Edit the scores of models: a row per kept document, with a value per kept image."""
        folder = self._run.scores
        assembled = {m.unit: m for m in _units(self._run.assembled)}
        for manifest in _units(folder):
            table = self._edited(manifest.path(folder, "data"))
            now = table if table is not None else read_table(manifest.path(folder, "data"))
            source = assembled.get(manifest.notes.get("documents", ""))
            here = {i: n for i in now["doc_id"].to_pylist() if (n := self._found.edited.get(i)) is not None}
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

    def _documents(self, stage: Stage) -> None:
        folder = stage.folder(self._run.path)
        for manifest in _units(folder):
            place = manifest.path(folder, "data")
            records = self._records(folder, manifest)
            carried = self._edited(manifest.path(folder, "carried")) if "carried" in manifest.files else None
            if not documents.is_touched(place, stage, self._gone):
                if records is not None:
                    self._commit(folder, manifest, {"records": records[0]}, {"records": records[1]})
                continue
            path = draft_for(folder, ".parquet")
            try:
                documents.rewrite(place, path, stage, self._gone, self._too_few)
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
        source = self._documents_before(stage.name).get(manifest.notes.get("partition", manifest.unit))
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


def _put_piece(path: Path, piece: Location) -> None:
    """Bring a piece of a shuffle to its place, under the name of its content; then the old one goes.

    The note of the shuffle names it now. It keeps the sha256 of the piece that was, as manifests do.
    """
    name = content_name(stem_of(piece.name), file_sha256(path), ".parquet")
    put(path, piece.parent / name)
    where = note_of(piece)
    if size_of(where) is not None:
        groups: dict[str, Any] = recall(where)
        for group in groups.values():
            for entry in group["pieces"].values():
                if entry["name"] == piece.name:
                    entry["name"] = name
        note(where, groups)
    remove([piece])


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


def _units(folder: Location) -> Iterator[Manifest]:
    for _, manifest in sorted(read_manifests(folder, unit_names(folder)).items()):
        yield manifest


def _folders(folder: Location) -> list[str]:
    """The steps below a folder that have manifests of units."""
    parts = (name.split("/") for name in files_below(folder))
    return sorted({part[0] for part in parts if len(part) > 2 and part[1] == "manifests"})


def _pairs(table: pa.Table, *columns: str) -> Iterator[tuple[Any, ...]]:
    return zip(*(table[name].to_pylist() for name in columns), strict=True)


def _write(table: pa.Table, path: Path) -> None:
    pq.write_table(table, path, compression="zstd", row_group_size=ROWS_PER_GROUP)


def as_json(value: Any) -> bytes:
    """The JSON of a unit's manifest, as it is stored."""
    return (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode()
