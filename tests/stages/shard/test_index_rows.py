from itertools import groupby
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obelics_pipeline.core.shards.index import COLUMNS, read_index, read_span
from obelics_pipeline.stages.shard import index_rows
from obelics_pipeline.stages.shard.index_rows import NO_ROWS, IndexRows, fingerprint, handed, tars_in_order

from .runs import document, make_run

VALUES = st.tuples(st.sampled_from("abc"), st.one_of(st.none(), st.text(max_size=3)), st.one_of(st.none(), st.floats()))


def table(values: list[tuple[str, str | None, float | None]]) -> pa.Table:
    kinds = [("shard", pa.string()), ("language", pa.string()), ("score", pa.float64())]
    return pa.Table.from_arrays(
        [pa.array([row[i] for row in values], kind) for i, (_, kind) in enumerate(kinds)], schema=pa.schema(kinds)
    )


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """That of a run of three tars."""
    folder = tmp_path_factory.mktemp("index") / "run"
    make_run(folder, [document(i) for i in range(8)], per_shard=3)
    return folder / "index.parquet"


@given(st.lists(st.sampled_from("abc"), max_size=40), st.integers(1, 7))
@settings(max_examples=30)
def test_tars_come_with_their_rows_in_order_wherever_groups_of_rows_end(
    tmp_path_factory: pytest.TempPathFactory, shards: list[str], group: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "in-order.parquet"
    rows = table([(shard, str(i), float(i)) for i, shard in enumerate(shards)])
    pq.write_table(rows, path, row_group_size=group)
    found = [(name, of.to_pylist()) for name, of in tars_in_order(path)]
    assert found == [(name, list(of)) for name, of in groupby(rows.to_pylist(), lambda row: str(row["shard"]))]


@pytest.mark.parametrize("with_part", [True, False])
def test_rows_reach_a_check_as_they_are_in_the_index(index: Path, tmp_path: Path, with_part: bool) -> None:
    start = 0
    for number, (_, rows) in enumerate(tars_in_order(index)):
        part = tmp_path / f"{number}.parquet"
        pq.write_table(rows, part)
        given = handed(rows, start, part if with_part else None)
        start += rows.num_rows
        assert given.read(Path("/nowhere")) == read_span(index, given.start, given.stop)  # the index is not opened
    assert start == len(list(read_index(index)))


def test_no_rows_of_an_index_are_none(index: Path) -> None:
    assert NO_ROWS.read(index) == []


@pytest.mark.parametrize("damage", ["gone", "cut", "another row", "another column"])
def test_a_part_that_differs_from_the_index_does_not_speak_for_it(index: Path, tmp_path: Path, damage: str) -> None:
    (_, rows), *_ = tars_in_order(index)
    part = tmp_path / "part.parquet"
    pq.write_table(rows, part)
    given = handed(rows, 0, part)
    if damage == "gone":
        part.unlink()
    elif damage == "cut":
        part.write_bytes(part.read_bytes()[:-20])
    elif damage == "another row":
        pq.write_table(rows.set_column(rows.column_names.index("url"), COLUMNS[4], [["http://x.example/"] * 3]), part)
    else:
        pq.write_table(rows.drop_columns(["page_type"]), part)
    assert given.read(index) == read_span(index, 0, 3)


@given(st.lists(VALUES, max_size=20), st.integers(0, 5), st.integers(0, 5))
@settings(max_examples=50)
def test_a_fingerprint_is_that_of_the_values_wherever_they_lie(
    values: list[tuple[str, str | None, float | None]], before: int, after: int
) -> None:
    around = [("z", "z", 1.5), ("y", None, None)] * 3
    whole = table([*around[:before], *values, *around[:after]])
    alone = table(values)
    assert fingerprint(whole.slice(before, len(values))) == fingerprint(alone)
    pieces = pa.concat_tables([alone.slice(0, 1), alone.slice(1)])
    assert fingerprint(pieces) == fingerprint(alone)


def test_a_fingerprint_tells_null_from_nothing_and_one_column_from_another() -> None:
    kinds = [table([("a", language, score)]) for language in (None, "") for score in (None, 0.0)]
    kinds.append(kinds[0].rename_columns(["shard", "page_type", "score"]))
    assert len({fingerprint(kind) for kind in kinds}) == 5


def test_a_task_with_a_part_is_small_and_one_without_has_its_own_rows_only(index: Path) -> None:
    (_, first), *_ = tars_in_order(index)
    many = pa.concat_tables([first] * 100).combine_chunks()
    assert handed(many, 0, Path("part.parquet")).carried is None
    carried = handed(many.slice(0, 3), 0, None).carried
    assert carried is not None
    assert len(carried) < 10_000 < len(index_rows._stream(many))
    assert IndexRows(0, 3, carried).read(index) == first.to_pylist()
