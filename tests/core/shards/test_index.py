import random
from collections.abc import Callable, Sequence
from itertools import count, islice
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obelics_pipeline.core.shards.index import (
    COLUMNS,
    ROWS_PER_GROUP,
    IndexWriter,
    fixed_columns,
    index_schema,
    is_index,
    merge_indexes,
    read_index,
    read_span,
    with_added,
)
from tests.stages.shard.runs import SCORES, document, make_run


def rows(folder: Path, count: int = 5) -> list[dict[str, object]]:
    make_run(folder, [document(i) for i in range(count)], per_shard=2)
    return list(read_index(folder / "index.parquet"))


def test_a_row_says_where_a_document_stands_where_it_came_from_and_what_was_measured(tmp_path: Path) -> None:
    found = rows(tmp_path / "run")
    assert [row["shard"] for row in found] == [f"shard-00000{i}.tar" for i in (0, 0, 1, 1, 2)]
    assert [row["warc_record_offset"] for row in found] == [0, 1, 2, 3, 4]
    assert [row["word_count"] for row in found] == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert [row["perplexity"] is None for row in found] == [False, True, False, True, False]
    assert found[0]["language"] is None
    assert found[1]["language"] == "en"
    assert [row["page_type"] for row in found] == [None, "forum", "product", "collection", None]
    assert all(row["n_files"] == row["n_images"] for row in found)


def test_it_is_read_by_another_engine(tmp_path: Path) -> None:
    rows(tmp_path / "run")
    query = f"SELECT count(*), sum(n_texts) FROM '{tmp_path}/run/index.parquet' WHERE word_count >= 2"
    assert duckdb.connect().execute(query).fetchall()[0][0] == 3


@pytest.mark.parametrize("names", [["url"], ["a", "a"], ["word_count", "shard"]])
def test_a_score_that_would_hide_a_column_is_refused(names: list[str]) -> None:
    with pytest.raises(ValueError, match="taken by a column of the index, or given twice"):
        index_schema(names)


def test_parts_merged_in_order_are_the_same_bytes_however_they_were_cut(tmp_path: Path) -> None:
    found = rows(tmp_path / "run", 6)
    whole = tmp_path / "run/index.parquet"
    for cut in (1, 3, 6):
        parts = [tmp_path / f"{cut}-0.parquet", tmp_path / f"{cut}-1.parquet"]
        for path, part in zip(parts, (found[:cut], found[cut:]), strict=True):
            with IndexWriter(path, SCORES) as writer:
                for row in part:
                    writer.write(row)
        merge_indexes(parts, tmp_path / "merged.parquet", SCORES)
        assert (tmp_path / "merged.parquet").read_bytes() == whole.read_bytes()


def merged_and_whole(
    folder: Path, sizes: Sequence[int], row: Callable[[int], dict[str, object]]
) -> tuple[bytes, bytes]:
    """Parts of these sizes as they are merged, and as one writer writes their rows; `row` makes one by its number."""
    parts, numbers = list[Path](), count()
    with IndexWriter(folder / "whole.parquet", SCORES) as whole:
        for part, size in enumerate(sizes):
            parts.append(folder / f"{part}.parquet")
            with IndexWriter(parts[-1], SCORES) as writer:
                for number in islice(numbers, size):
                    made = row(number)
                    whole.write(made)
                    writer.write(made)
    merge_indexes(parts, folder / "merged.parquet", SCORES)
    return (folder / "merged.parquet").read_bytes(), (folder / "whole.parquet").read_bytes()


@given(st.lists(st.integers(0, 700), max_size=12), st.integers(0, 2))
@settings(max_examples=8)
def test_merged_parts_are_the_bytes_of_a_writer_of_the_same_rows(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], large: int
) -> None:
    """Parts of any size, empty ones and ones of several groups of rows among them."""
    folder = tmp_path_factory.mktemp("merged")
    (made,) = rows(folder / "run", 1)
    sizes = [*sizes, large * ROWS_PER_GROUP + large]
    chance = random.Random(repr(sizes))

    def row(at: int) -> dict[str, object]:
        language, kind = chance.choice([None, "en", "de"]), chance.choice([None, "forum"])
        score = chance.choice([None, chance.random()])
        return made | {"offset": at, "language": language, "page_type": kind, "perplexity": score}

    merged, whole = merged_and_whole(folder, sizes, row)
    assert merged == whole


def test_long_texts_of_merged_parts_end_on_the_same_pages(tmp_path: Path) -> None:
    """A column of one group of rows takes several pages, which do not begin where a part does."""
    (made,) = rows(tmp_path / "run", 1)
    sizes = (700, 1, ROWS_PER_GROUP + 5, 300)
    merged, whole = merged_and_whole(tmp_path, sizes, lambda at: made | {"url": f"http://pages.example/{at:0400}"})
    assert merged == whole


def test_a_column_that_a_part_lacks_is_null_in_the_whole(tmp_path: Path) -> None:
    (row,) = rows(tmp_path / "run", 1)
    with IndexWriter(tmp_path / "part.parquet", SCORES[:1], [f for f in COLUMNS if f.name != "page_type"]) as writer:
        writer.write(row)
    merge_indexes([tmp_path / "part.parquet"], tmp_path / "merged.parquet", SCORES)
    assert list(read_index(tmp_path / "merged.parquet")) == [row | {"page_type": None, "perplexity": None}]


def test_an_index_of_before_a_column_was_added_has_it_as_null_in_its_place(tmp_path: Path) -> None:
    make_run(tmp_path / "run", [document(i) for i in range(3)])
    path = tmp_path / "run/index.parquet"
    whole = pq.read_table(path)
    assert with_added(whole) is whole
    before = whole.drop_columns(["page_type"])
    assert is_index(before.column_names)
    assert not is_index(before.drop_columns(["language"]).column_names)
    assert with_added(before).schema.equals(index_schema(SCORES))
    assert with_added(before)["page_type"].to_pylist() == [None] * 3
    assert before.schema.equals(index_schema(SCORES, fixed_columns(before.schema)))
    assert not before.drop_columns(["language"]).schema.equals(index_schema(SCORES, fixed_columns(before.schema)))


def test_rows_of_an_index_are_written_with_the_columns_that_it_has(tmp_path: Path) -> None:
    (row,) = rows(tmp_path / "run", 1)
    fixed = [field for field in COLUMNS if field.name != "page_type"]
    with IndexWriter(tmp_path / "other.parquet", SCORES, fixed) as writer:
        writer.write(row)
    assert next(read_index(tmp_path / "other.parquet")) == {k: v for k, v in row.items() if k != "page_type"}


def test_row_groups_have_a_fixed_size(tmp_path: Path) -> None:
    (row,) = rows(tmp_path / "run", 1)
    path = tmp_path / "many.parquet"
    with IndexWriter(path, SCORES) as writer:
        for i in range(ROWS_PER_GROUP + 1):
            writer.write(row | {"offset": i})
    sizes = [pq.ParquetFile(path).metadata.row_group(i).num_rows for i in range(2)]
    assert sizes == [ROWS_PER_GROUP, 1]
    assert [r["offset"] for r in read_index(path, ["offset"])] == list(range(ROWS_PER_GROUP + 1))


def test_a_span_of_rows_is_read_across_groups(tmp_path: Path) -> None:
    (row,) = rows(tmp_path / "run", 1)
    path = tmp_path / "many.parquet"
    with IndexWriter(path, SCORES) as writer:
        for i in range(2 * ROWS_PER_GROUP + 5):
            writer.write(row | {"offset": i})
    for start, stop in ((0, 0), (0, 1), (5, 9), (ROWS_PER_GROUP - 2, ROWS_PER_GROUP + 2), (10, 2 * ROWS_PER_GROUP + 5)):
        assert [r["offset"] for r in read_span(path, start, stop)] == list(range(start, stop))


def test_an_index_without_rows_is_an_index(tmp_path: Path) -> None:
    make_run(tmp_path / "run", [])
    assert list(read_index(tmp_path / "run/index.parquet")) == []
    assert pq.read_schema(tmp_path / "run/index.parquet").equals(index_schema(SCORES))
