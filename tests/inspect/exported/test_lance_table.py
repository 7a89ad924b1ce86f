"""A Lance dataset has the rows and pictures of the shards, read by lance, DuckDB and Polars."""

from pathlib import Path
from shutil import copytree

import pyarrow as pa
import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.errors import Stopped, UserError
from obelics_pipeline.inspect.exported.lance_table import export_lance
from tests.inspect.exported.documents import Found, of_shards

lance = pytest.importorskip("lance")


@pytest.fixture(scope="module")
def table(small_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lance") / "out"
    assert export_lance(small_run, folder).documents == 12
    return folder


def found(rows: pa.Table) -> list[Found]:
    columns = rows.select(["doc_id", "texts", "images"]).to_pylist()
    return [Found(row["doc_id"], row["texts"], [p and p["bytes"] for p in row["images"]]) for row in columns]


def test_lance_scans_it(small_run: Path, table: Path) -> None:
    assert found(lance.dataset(str(table)).to_table()) == of_shards(small_run)


def test_lance_takes_documents_by_their_number(small_run: Path, table: Path) -> None:
    documents = of_shards(small_run)
    assert found(lance.dataset(str(table)).take([9, 2, 5])) == [documents[i] for i in (9, 2, 5)]


def test_duckdb_reads_it(small_run: Path, table: Path) -> None:
    import duckdb

    documents = lance.dataset(str(table))  # noqa: F841  # DuckDB finds it by its name
    assert found(duckdb.sql("SELECT doc_id, texts, images FROM documents").to_arrow_table()) == of_shards(small_run)


def test_polars_reads_it(small_run: Path, table: Path) -> None:
    import polars

    frame = polars.scan_pyarrow_dataset(lance.dataset(str(table))).select("doc_id", "texts", "images").collect()
    assert found(frame.to_arrow()) == of_shards(small_run)


def test_a_folder_that_is_not_empty_stays_as_it_is(
    small_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine").write_text("mine")
    assert main(["export", str(small_run), "--format", "lance", "--output", str(tmp_path / "out")]) == 2
    assert "is there already; give an empty or new folder" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine"]


def test_a_damaged_tar_ends_in_one_line_and_leaves_no_folder(small_run: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    copytree(small_run, run)
    tar = run / "shards/shard-000002.tar"
    tar.write_bytes(tar.read_bytes().replace(b"Paragraph", b"paragraph", 1))
    with pytest.raises(UserError, match=r"shard-000002.tar: cannot be read .*obelics validate"):
        export_lance(run, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_full_disk_ends_in_one_line_and_leaves_no_folder(
    small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError("LanceError(IO): Generic LocalFileSystem error: No space left on device (os error 28), at io.rs")

    monkeypatch.setattr(lance, "write_dataset", full)
    with pytest.raises(Stopped, match="out: No space left on device; make room, then run the same command again"):
        export_lance(small_run, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
