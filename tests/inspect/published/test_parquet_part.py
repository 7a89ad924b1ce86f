"""One Parquet file: what stands in it, how large its groups of rows are, and when it is written again."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.shards.manifest import read_manifest
from obelics_pipeline.core.shards.run_index import PartBounds
from obelics_pipeline.core.shards.source import all_documents
from obelics_pipeline.inspect.published.parquet_part import PartMaker, PartWriter, write_rows
from obelics_pipeline.inspect.published.parts import Part
from obelics_pipeline.inspect.published.table import row_bytes, table_schema
from tests.stages.shard.runs import SCORES, document, make_run

PART = Part("train-00000-of-00001.parquet", 0, 7)


def written(run: Path, output: Path, part: Part = PART, made_of: str = "x") -> Path:
    PartWriter(
        PartMaker(run, PartBounds.of(read_manifest(run)), SCORES, made_of),
        output,
        output.parent / f"notes-{output.name}",
    )(part)
    return output / part.name


@pytest.fixture
def run(tmp_path: Path) -> Path:
    make_run(tmp_path / "run", [document(i) for i in range(7)], per_shard=3)
    return tmp_path / "run"


def test_texts_and_pictures_of_each_document_are_those_of_the_shards(run: Path, tmp_path: Path) -> None:
    rows = pq.read_table(written(run, tmp_path / "out")).to_pylist()
    for row, item in zip(rows, all_documents(run), strict=True):
        assert (row["doc_id"], row["url"], row["texts"]) == (item.record.doc_id, item.row["url"], item.value["texts"])
        assert row["image_urls"] == item.value["images"]
        pictures = [None if name is None else item.images[name] for name in item.value["files"]]
        assert [picture and picture["bytes"] for picture in row["images"]] == pictures
        assert {name: row[name] for name in SCORES} == {name: item.row[name] for name in SCORES}
        assert (row["language"], row["page_type"]) == (item.row["language"], item.row["page_type"])
        assert (row["metadata"], row["general_metadata"]) == (item.value["metadata"], item.value["general_metadata"])


def test_a_part_has_its_rows_alone_across_tars(run: Path, tmp_path: Path) -> None:
    everything = pq.read_table(written(run, tmp_path / "a"))
    middle = pq.read_table(written(run, tmp_path / "b", Part("train-00000-of-00001.parquet", 2, 5)))
    assert middle.to_pylist() == everything.slice(2, 3).to_pylist()


def test_a_file_has_a_page_index_and_no_statistics_of_pictures(run: Path, tmp_path: Path) -> None:
    group = pq.read_metadata(written(run, tmp_path / "out")).row_group(0)
    columns = {group.column(i).path_in_schema: group.column(i) for i in range(group.num_columns)}
    assert all(column.has_offset_index for column in columns.values())
    assert columns["word_count"].statistics.min == 0.0
    assert columns["images.list.element.bytes"].statistics is None
    assert columns["images.list.element.bytes"].compression == "UNCOMPRESSED"
    assert columns["texts.list.element"].compression == "ZSTD"


def test_equal_runs_give_equal_bytes(run: Path, tmp_path: Path) -> None:
    assert written(run, tmp_path / "a").read_bytes() == written(run, tmp_path / "b").read_bytes()


def test_a_file_that_is_there_and_whole_stays(run: Path, tmp_path: Path) -> None:
    path = written(run, tmp_path / "out")
    before = path.stat().st_ino
    written(run, tmp_path / "out")
    assert path.stat().st_ino == before


@pytest.mark.parametrize("where", [0.2, 0.5, 0.8])
def test_a_damaged_file_is_written_again(run: Path, tmp_path: Path, where: float) -> None:
    path = written(run, tmp_path / "out")
    whole = path.read_bytes()
    damaged = bytearray(whole)
    damaged[int(len(whole) * where)] ^= 1
    path.write_bytes(damaged)
    written(run, tmp_path / "out")
    assert path.read_bytes() == whole


@pytest.mark.parametrize("change", [{"made_of": "y"}, {"part": Part(PART.name, 0, 6)}])
def test_a_file_of_another_run_or_other_rows_is_written_again(
    run: Path, tmp_path: Path, change: dict[str, Any]
) -> None:
    path = written(run, tmp_path / "out")
    before = path.stat().st_ino
    assert written(run, tmp_path / "out", **change).stat().st_ino != before


def test_a_damaged_tar_ends_in_one_line_and_leaves_no_file(run: Path, tmp_path: Path) -> None:
    tar = run / "shards/shard-000001.tar"
    tar.write_bytes(tar.read_bytes().replace(b"Paragraph", b"paragraph", 1))
    with pytest.raises(UserError, match=r"shard-000001.tar: cannot be read .*obelics validate"):
        written(run, tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def row(size: int) -> dict[str, Any]:
    empty: dict[str, Any] = dict.fromkeys(table_schema([]).names)
    texts = {"texts": ["x" * size], "metadata": "", "general_metadata": ""}
    return empty | texts | {"images": [None], "image_urls": [None]}


@settings(max_examples=20)
@given(st.lists(st.sampled_from([10, 30_000_000, 60_000_000, 120_000_000]), max_size=5), st.integers(0, 210))
def test_groups_hold_at_most_a_hundred_rows_and_a_hundred_megabytes(
    tmp_path_factory: pytest.TempPathFactory, large: list[int], small: int
) -> None:
    path = tmp_path_factory.mktemp("groups") / "part.parquet"
    sizes = [*([10] * small), *large]
    write_rows(path, table_schema([]), map(row, sizes))
    groups = [pq.read_metadata(path).row_group(i) for i in range(pq.read_metadata(path).num_row_groups)]
    assert sum(group.num_rows for group in groups) == len(sizes)
    assert all(group.num_rows <= 100 for group in groups)
    assert all(group.num_rows == 1 or group.total_byte_size < 101_000_000 for group in groups)


def test_the_bytes_of_a_row_are_its_pictures_and_its_text(run: Path, tmp_path: Path) -> None:
    (first, *_) = pq.read_table(written(run, tmp_path / "out")).to_pylist()
    table = pa.Table.from_pylist([first], table_schema(SCORES))
    assert 0.8 * table.nbytes < row_bytes(first) <= table.nbytes
