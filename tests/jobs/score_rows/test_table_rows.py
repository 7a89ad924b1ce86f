import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from obelics_pipeline.core.config import load_config
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.tables import PUBLISHED
from obelics_pipeline.jobs.score_rows import table_rows
from obelics_pipeline.jobs.score_rows.columns import ask
from obelics_pipeline.jobs.score_rows.table_rows import TableBatch, TableWriter, output_schema, read_rows, score_rows
from obelics_pipeline.stages.rows.row_error import RowError
from tests.jobs.score_rows.rows import TEXT, published, write_parquet

ASKED = ask(["word_count", "language"], load_config("default"))


def test_a_worker_gets_of_its_rows_only_what_documents_are_made_of(tmp_path: Path) -> None:
    rows = [published(i) | {"big": "x" * 10_000} for i in range(20)]
    (batch,) = read_rows(write_parquet(tmp_path / "a.parquet", rows, None))
    half, _ = batch.halves()
    sent = half.sent()
    assert pa.ipc.open_stream(sent.data).read_all().to_pylist() == [published(i) for i in range(10)]
    assert len(sent.data) < 20_000
    assert repr(sent).endswith("a.parquet rows 0 to 9")


def test_batches_are_bounded_by_rows_and_by_the_size_that_the_footer_says(tmp_path: Path) -> None:
    small = write_parquet(tmp_path / "a.parquet", [published(i) for i in range(300)])
    assert [(batch.first, len(batch)) for batch in read_rows(small)] == [(0, 128), (128, 128), (256, 44)]
    long = TEXT * 2500  # 250 KB
    large = write_parquet(tmp_path / "b.parquet", [published(i, text=f"{i}{long}") for i in range(10)])
    assert max(len(batch) for batch in read_rows(large)) <= 4


def test_broken_rows_cost_themselves(tmp_path: Path) -> None:
    rows = [published(0), published(1, metadata="nope"), published(2, texts=None), published(3)]
    (batch,) = read_rows(write_parquet(tmp_path / "a.parquet", rows))
    found = score_rows(batch.sent(), ASKED)
    assert [x.reason if isinstance(x, RowError) else x[1] for x in found] == ["en", "broken_metadata", "no_text", "en"]


def test_a_string_that_is_no_text_costs_its_row() -> None:
    good = pa.array([TEXT.encode(), b"\xff\xfe", TEXT.encode()]).cast(pa.binary())
    strings = pa.StringArray.from_buffers(3, good.buffers()[1], good.buffers()[2])
    batch = TableBatch("a", 0, pa.RecordBatch.from_arrays([strings], ["text"]))
    found = score_rows(batch.sent(), ASKED)
    assert [x.reason if isinstance(x, RowError) else x[1] for x in found] == ["en", "not_utf8", "en"]


def test_scores_are_further_columns_or_take_the_place_of_old_ones(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "a.parquet", [{"word_count": 1, "text": TEXT}], None)
    assert output_schema([path], ["language"], False).names == ["word_count", "text", "language"]
    with pytest.raises(UserError, match=r"a.parquet: has a column word_count already; .* or give --replace"):
        output_schema([path], ["word_count"], False)
    replaced = output_schema([path], ["language", "word_count"], True)
    assert [f"{field.name}: {field.type}" for field in replaced] == [
        "word_count: double", "text: string", "language: string",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"id": 1, "body": "x"}, r"has neither a column texts \(as published\) nor text; found id, body$"),
        ({"texts": "x"}, "column texts is string, and must be a list of strings"),
        ({"texts": ["x"], "images": [1]}, r"column images is list<\w+: int64>, and must be a list of strings"),
        ({"text": 1.5}, "column text is double, and must be a string"),
    ],
)
def test_a_file_whose_columns_cannot_be_documents_is_refused(tmp_path: Path, row: dict[str, Any], said: str) -> None:
    path = write_parquet(tmp_path / "a.parquet", [row], None)
    with pytest.raises(UserError, match=said):
        output_schema([path], ["word_count"], False)


def test_files_of_different_columns_are_refused(tmp_path: Path) -> None:
    first = write_parquet(tmp_path / "a.parquet", [published(1)])
    second = write_parquet(tmp_path / "b.parquet", [published(1) | {"more": 1}], None)
    with pytest.raises(UserError, match=r"b.parquet: other columns than .*a.parquet \(more: int64\)"):
        output_schema([first, second], ["word_count"], False)


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    table = pa.table([pa.array(["a"]), pa.array(["b"])], names=["text", "text"])
    pq.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(UserError, match="has two columns text; rename one"):
        output_schema([tmp_path / "a.parquet"], ["word_count"], False)


@pytest.mark.parametrize("data", [b"", b"PAR1 but no more", b'{"text":"a"}\n' * 10])
def test_what_is_no_parquet_is_one_line(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(data)
    with pytest.raises(UserError, match=r"^input .*a.parquet: cannot be read as Parquet \(.*\)$") as caught:
        output_schema([path], ["word_count"], False)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_damaged_further_on_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    table = pa.Table.from_pylist([published(i) for i in range(400)], PUBLISHED)
    pq.write_table(table, path, row_group_size=100, compression="zstd")
    start = pq.read_metadata(path).row_group(2).column(0).data_page_offset
    data = bytearray(path.read_bytes())
    data[start : start + 200] = bytes(200)
    path.write_bytes(data)
    with pytest.raises(UserError, match=r"a.parquet: cannot be read beyond row (128|200) \(.*\); nothing was written"):
        list(read_rows(path))


def test_equal_batches_give_equal_bytes_and_every_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_rows, "ROWS_PER_GROUP", 7)
    table = pa.Table.from_pylist([published(i) for i in range(20)], PUBLISHED)
    for name in ("a", "b"):
        with TableWriter(tmp_path / name, table.schema) as writer:
            for start in range(0, 20, 2):
                writer.write(table_rows.ScoredTable(table.slice(start, 2), []))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert [pq.ParquetFile(tmp_path / "a").metadata.row_group(i).num_rows for i in range(3)] == [8, 8, 4]
    assert json.dumps(pq.read_table(tmp_path / "a").to_pylist()) == json.dumps(table.to_pylist())
