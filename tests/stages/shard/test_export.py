import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.document import interleave
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.tables import PUBLISHED
from obelics_pipeline.stages.shard.export import export_parquet

from .runs import document, make_run

DOCUMENTS = [document(i) for i in range(7)]


def test_the_published_columns_come_back_through_datasets(tmp_path: Path) -> None:
    import datasets

    make_run(tmp_path / "run", DOCUMENTS, per_shard=3)
    files = export_parquet(tmp_path / "run", tmp_path / "out")
    assert [path.name for path in files] == ["train-00000-of-00001.parquet"]
    paths = {"train": [str(path) for path in files]}
    table = datasets.load_dataset("parquet", data_files=paths, split="train", cache_dir=str(tmp_path / "cache"))
    assert table.column_names == ["images", "metadata", "general_metadata", "texts"]
    assert len(table) == len(DOCUMENTS)
    for row, item in zip(table, DOCUMENTS, strict=True):
        expected = interleave(item.nodes, item.url)
        assert row["texts"] == expected.texts
        assert row["images"] == expected.images
        assert json.loads(row["metadata"]) == expected.metadata
        assert json.loads(row["general_metadata"])["url"] == item.url


def test_columns_of_the_index_follow_the_published_ones_where_they_are_asked_for(tmp_path: Path) -> None:
    make_run(tmp_path / "run", DOCUMENTS, per_shard=3)
    arguments = ["export", str(tmp_path / "run"), "--format", "parquet", "--output", str(tmp_path / "out")]
    assert main([*arguments, "--columns", "page_type,word_count", "language"]) == 0
    table = pq.read_table(tmp_path / "out")
    assert table.column_names == [*PUBLISHED.names, "page_type", "word_count", "language"]
    assert table["page_type"].to_pylist() == [item.page_type for item in DOCUMENTS]
    assert table["word_count"].to_pylist() == [item.scores["word_count"] for item in DOCUMENTS]


@pytest.mark.parametrize("columns", [["page_tpye"], ["offset"], ["language", "language"]])
def test_a_column_that_cannot_be_added_is_refused_before_anything_is_written(
    columns: list[str], tmp_path: Path
) -> None:
    make_run(tmp_path / "run", DOCUMENTS)
    with pytest.raises(UserError, match=rf"--columns {columns[-1]}: .*; valid: doc_id, url, .*page_type, word_count"):
        export_parquet(tmp_path / "run", tmp_path / "out", columns=columns)
    assert not (tmp_path / "out").exists()


def test_other_formats_have_no_such_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_run(tmp_path / "run", DOCUMENTS)
    assert main(["export", str(tmp_path / "run"), "--format", "laion", "--columns", "page_type"]) == 2
    assert capsys.readouterr().err.endswith("--columns: valid only with --format parquet; leave it out\n")


def test_files_have_so_many_rows_and_the_same_bytes_each_time(tmp_path: Path) -> None:
    make_run(tmp_path / "run", DOCUMENTS, per_shard=2)
    once = export_parquet(tmp_path / "run", tmp_path / "out", rows_per_file=3)
    bytes_once = [path.read_bytes() for path in once]
    assert [pq.read_metadata(path).num_rows for path in once] == [3, 3, 1]
    assert [path.read_bytes() for path in export_parquet(tmp_path / "run", tmp_path / "out", 3)] == bytes_once
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [path.name for path in once]


def test_a_run_without_documents_gives_a_file_without_rows(tmp_path: Path) -> None:
    make_run(tmp_path / "run", [])
    (path,) = export_parquet(tmp_path / "run", tmp_path / "out")
    assert pq.read_table(path).schema.equals(PUBLISHED)
    assert pq.read_metadata(path).num_rows == 0


def test_a_folder_that_is_no_finished_run_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no finished run"):
        export_parquet(tmp_path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_other_parquet_files_are_not_mixed_with(tmp_path: Path) -> None:
    make_run(tmp_path / "run", DOCUMENTS)
    export_parquet(tmp_path / "run", tmp_path / "out", rows_per_file=3)
    with pytest.raises(UserError, match="give an empty or new folder"):
        export_parquet(tmp_path / "run", tmp_path / "out", rows_per_file=4)


def test_a_damaged_run_is_told_in_one_line_and_leaves_no_half_file(tmp_path: Path) -> None:
    make_run(tmp_path / "run", DOCUMENTS, per_shard=3)
    shard = tmp_path / "run/shards/shard-000001.tar"
    shard.write_bytes(shard.read_bytes()[:700])
    with pytest.raises(UserError, match=r"shard-000001.tar: cannot be read .*obelics validate") as caught:
        export_parquet(tmp_path / "run", tmp_path / "out")
    assert "\n" not in str(caught.value)
    assert list((tmp_path / "out").iterdir()) == []
    shard.unlink()
    with pytest.raises(UserError, match="cannot be read"):
        export_parquet(tmp_path / "run", tmp_path / "out")
    (tmp_path / "run/index.parquet").write_bytes(b"x")
    with pytest.raises(UserError, match=r"index.parquet: cannot be read"):
        export_parquet(tmp_path / "run", tmp_path / "out")
