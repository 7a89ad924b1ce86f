import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.stages.extract.marks import BITS
from obelics_pipeline.stages.extract.tags import CUSTOM, TEXT, tag_id
from obelics_pipeline.stages.extract.tree import CHARS, END, MARKS, PARENT, TAG
from tests.stages.extract.soups import soup
from tests.stages.extract.trees import row_of, tree_of


@st.composite
def soups(draw: st.DrawFn) -> str:
    return soup(lambda values: draw(st.sampled_from(values)), draw(st.integers(0, 30)))


@given(soups(), st.randoms(use_true_random=False))
def test_inside_is_what_it_says(page: str, chance: object) -> None:
    tree = tree_of(page)
    roots = np.array([chance.random() < 0.2 for _ in tree.rows], np.bool_)  # type: ignore[attr-defined]
    naive = np.zeros(len(roots), np.bool_)
    for row in np.flatnonzero(roots):
        naive[row : tree.rows[row, END]] = True
    assert tree.inside(roots).tolist() == naive.tolist()


@given(soups())
def test_rows_are_in_document_order_and_nested(page: str) -> None:
    tree = tree_of(page)
    for row, (parent, end) in enumerate(tree.rows[:, [PARENT, END]].tolist()):
        assert -1 <= parent < row < end <= len(tree.rows)
        assert parent < 0 or end <= tree.rows[parent, END]
        assert isinstance(tree.values[row], str) == (tree.rows[row, TAG] == TEXT)
    assert not tree.rows[tree.rows[:, TAG] != TEXT, CHARS:].any()


def test_elements_without_anything_have_no_row() -> None:
    tree = tree_of("<div><p></p><p><i> </i></p></div><nav>x</nav><script>x</script>")
    assert TEXT not in tree.rows[:, TAG]
    assert tag_id("p") not in tree.rows[:, TAG]


def test_inline_elements_are_dissolved_into_their_text() -> None:
    tree = tree_of(
        "<p>so <b class=byline>it</b> <i>is</i></p><p><b class=byline>all <i>of it</i></b></p><x-y>own</x-y>"
    )
    assert not tree.rows[row_of(tree, "so it is"), MARKS]
    assert tree.rows[row_of(tree, "all of it"), MARKS] == BITS["byline"]  # what is said of the whole text
    assert tree.rows[tree.rows[row_of(tree, "own"), PARENT], TAG] == CUSTOM
