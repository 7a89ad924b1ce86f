import pytest

from obelics_pipeline.stages.extract.default_rules import MAX_CELL
from obelics_pipeline.stages.extract.table import Table, read_table
from obelics_pipeline.stages.extract.tags import tag_id
from obelics_pipeline.stages.extract.tree import TAG
from tests.stages.extract.trees import tree_of

DATA = "<tr><td>a<td>b<tr><td>c<td>d"


def read(inner: str) -> Table | None:
    tree = tree_of(f"<p>before</p><table>{inner}</table><p>after")
    rows = [row for row, tag in enumerate(tree.rows[:, TAG]) if tag == tag_id("table")]
    return read_table(tree, rows[0]) if rows else None


def test_rows_and_cells() -> None:
    table = read("<caption>The\n title</caption><thead><tr><th>a<th> b<br>c </thead><tr><td>1<td><i>2</i> 3</table>")
    assert table == Table("The title", [["a", "b c"], ["1", "2 3"]])


def test_an_empty_cell_keeps_the_columns_in_place() -> None:
    inner = "<tr><td><td>b<tr><td>c<td><td>d<tr><td>e<td>f"
    assert read(inner) == Table(None, [["", "b"], ["c", "", "d"], ["e", "f"]])


@pytest.mark.parametrize(
    "inner",
    [
        "<tr><td>a<td>b", "<tr><td>a<tr><td>b<tr><td>c", "<tr><td>a<td><tr><td><td>b", "",
        DATA + "<td><p>x", DATA + "<td><img src=/x.jpg>", DATA + "<td><ul><li>x</ul>", DATA + "<td><x-card>x</x-card>",
        DATA + f"<td><table>{DATA}</table>", DATA + "<td>" + "x" * (MAX_CELL + 1),
    ],
)  # fmt: skip
def test_a_table_to_lay_out_with_is_none(inner: str) -> None:
    assert read(inner) is None


def test_cells_of_a_table_with_head_cells_may_hold_paragraphs_and_lists() -> None:
    inner = "<tr><th>a<th>b<tr><td><p>c</p><p>d</p><td><ul><li>e<li>f</ul>"
    assert read(inner) == Table(None, [["a", "b"], ["c d", "e f"]])
    assert read(inner + "<td><h3>g</h3>") is None


def test_a_cell_may_be_as_long_as_a_paragraph() -> None:
    assert read(DATA + "<td>" + "x" * MAX_CELL) is not None
