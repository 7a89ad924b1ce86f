"""A table has what was written and nothing else, wherever it lies."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from upath import UPath

from obelics_pipeline.core.storage import Location
from obelics_pipeline.policy.lists.table import Damaged, Table, TableWriter

NAMES = st.sets(st.text("abc.", max_size=6), max_size=60)


def written(where: Location, names: list[str]) -> Table:
    writer = TableWriter()
    writer.add(names)
    writer.write(where, len(names), 0)
    return Table(where)


@given(NAMES, NAMES)
def test_a_table_has_what_was_written_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, there: set[str], asked: set[str]
) -> None:
    paths = [tmp_path_factory.mktemp("tables") / name for name in ("one", "two")]
    table = written(paths[0], sorted(there))
    written(paths[1], sorted(there, reverse=True) * 2)
    assert {name for name in there | asked if name in table} == there
    assert table.counts.entries == len(there)
    assert paths[0].read_bytes()[100:] == paths[1].read_bytes()[100:]  # all but the header's count of lines


def test_a_table_of_an_object_store_answers_alike() -> None:
    table = written(UPath("memory://tables/one.table"), ["a.example"])
    assert "a.example" in table
    assert "b.example" not in table
    assert "\udcff" not in table


def test_an_empty_and_a_changed_file_are_no_tables(tmp_path: Path) -> None:
    path = tmp_path / "one.table"
    written(path, ["a.example"])
    for content in (b"", path.read_bytes()[:-1], path.read_bytes().replace(b"table", b"tabel")):
        path.write_bytes(content)
        with pytest.raises(Damaged):
            Table(path)
