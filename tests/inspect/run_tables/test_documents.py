"""A run table has a row for every extracted document, and says of each what the ledgers of the run say of all."""

import json
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.config.run import load_resolved
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.shards.manifest import read_manifest
from obelics_pipeline.core.tables import read_documents
from obelics_pipeline.inspect.run_tables.documents import FIELDS, _last_of_each, _sums, document_table, score_names
from obelics_pipeline.inspect.run_tables.folders import committed_units, document_folders

LISTS = st.lists(st.one_of(st.none(), st.lists(st.one_of(st.none(), st.text(max_size=5)), max_size=5)), max_size=9)


@given(LISTS, st.integers(0, 9))
def test_sums_over_lists_are_those_of_a_loop(lists: list[list[str | None] | None], cut: int) -> None:
    column = pa.chunked_array([pa.array(part, pa.list_(pa.string())) for part in (lists[:cut], lists[cut:])])
    assert _sums(column, pc.binary_length).tolist() == [
        sum(len(value.encode()) for value in values or () if value is not None) for values in lists
    ]
    assert _sums(column, pc.is_valid).tolist() == [sum(v is not None for v in values or ()) for values in lists]


@given(st.lists(st.sampled_from("abcdef"), max_size=20), st.integers(0, 20))
def test_of_each_id_the_last_row_counts_in_the_order_of_the_first(ids: list[str], cut: int) -> None:
    column = pa.chunked_array([pa.array(part, pa.string()) for part in (ids[:cut], ids[cut:])])
    last = {id_: row for row, id_ in enumerate(ids)}
    assert _last_of_each(column).tolist() == [last[id_] for id_ in dict.fromkeys(ids)]


def test_the_counts_are_those_of_the_ledgers(run_of_demo: Path) -> None:
    documents, manifest = document_table(RunFolder(run_of_demo)), read_manifest(run_of_demo)
    ledger = manifest.ledgers["documents"]
    assert documents.num_rows == ledger.entered == len(set(documents["doc_id"].to_pylist()))
    assert documents["reason"].null_count == documents["stage"].null_count == ledger.kept > 0
    assert Counter(documents["reason"].drop_null().to_pylist()) == ledger.dropped
    kept = documents.filter(documents["reason"].is_null())
    assert pc.sum(kept["images"]).as_py() == manifest.counts()["images"]
    duplicates = documents.filter(documents["duplicate_of"].is_valid())
    assert set(duplicates["stage"].to_pylist()) == {"shard"}
    assert set(duplicates["duplicate_of"].to_pylist()) <= set(kept["doc_id"].to_pylist())


def test_every_row_says_what_stands_in_its_file(run_of_demo: Path) -> None:
    table = document_table(RunFolder(run_of_demo))
    files = {file: list(read_documents(run_of_demo / file)) for file in set(table["file"].to_pylist())}
    assert {Path(file).parts[0] for file in files} >= {"extract", "assembled"}
    for row in table.to_pylist():
        document = files[row["file"]][row["row"]]
        assert row["doc_id"] == document.doc_id
        assert row["url"] == document.url
        assert (row["language"], row["page_type"]) == (document.language, document.page_type)
        assert row["images"] == len(document.images())
        assert row["month"] == document.general["warc_date"][:7]
        assert {name: row[name] for name in document.scores} == document.scores
        assert row["duplicate_of"] is not None or row["reason"] == document.reason


def test_a_folder_without_documents_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not the folder of a run"):
        document_table(RunFolder(tmp_path))


def test_a_run_that_extracted_nothing_gives_no_rows(run_of_demo: Path, tmp_path: Path) -> None:
    extract = run_of_demo / "extract"
    empty = pq.read_table(next(extract.glob("*.parquet"))).slice(0, 0)
    manifest = json.loads(next((extract / "manifests").iterdir()).read_text())
    (tmp_path / "extract/manifests").mkdir(parents=True)
    pq.write_table(empty, tmp_path / "extract/data.parquet")
    size = (tmp_path / "extract/data.parquet").stat().st_size
    manifest["files"] = {"data": {"name": "data.parquet", "sha256": "0" * 64, "bytes": size}}
    manifest.pop("seal")
    (tmp_path / "extract/manifests" / f"{manifest['unit']}.json").write_text(json.dumps(manifest))
    table = document_table(RunFolder(tmp_path))
    assert table.num_rows == 0
    assert set(FIELDS.names) <= set(table.column_names)


def test_units_of_what_is_not_extracted_any_more_do_not_count(run_of_demo: Path, tmp_path: Path) -> None:
    folder = RunFolder(shutil.copytree(run_of_demo, tmp_path / "out", ignore=shutil.ignore_patterns("images")))
    gone = sorted((folder.path / "extract/manifests").iterdir())[0]
    gone.unlink()
    for _stage, place in document_folders(folder):
        assert gone.stem not in {m.notes.get("partition", m.unit) for m in committed_units(folder, place)}
    before, after = (document_table(RunFolder(path)) for path in (run_of_demo, folder.path))
    assert 0 < after.num_rows < before.num_rows


def test_what_an_earlier_config_left_behind_does_not_count(run_of_demo: Path, tmp_path: Path) -> None:
    folder = RunFolder(shutil.copytree(run_of_demo, tmp_path / "out", ignore=shutil.ignore_patterns("images")))
    values = load_resolved(run_of_demo / "config.yaml")
    assert [stage for stage, _ in document_folders(folder)] == ["extract", "dedup", "site", "assemble"]
    values["dedup"]["enabled"] = values["site"]["enabled"] = False
    values["site"]["document"] = {}  # a bound switches it on as well
    (tmp_path / "out/config.yaml").write_text(yaml.safe_dump(values))
    assert [stage for stage, _ in document_folders(folder)] == ["extract", "assemble"]
    assert document_table(folder)["duplicate_of"].null_count == document_table(folder).num_rows


def test_columns_of_scores_are_told_from_the_others(run_of_demo: Path) -> None:
    table = document_table(RunFolder(run_of_demo))
    names = score_names(table)
    assert {"language_score", "word_count", "site_documents"} <= set(names)
    assert all(pa.types.is_float64(table.schema.field(name).type) for name in names)
    assert not np.isnan(table["word_count"].drop_null().to_numpy()).any()
