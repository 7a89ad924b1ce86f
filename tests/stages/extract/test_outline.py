"""What a text is by the elements around it is the same compiled and in Python."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from obelics_pipeline.stages.extract import outline as module
from obelics_pipeline.stages.extract.outline import IMAGE, OUT, SHOWN, SILENT, outline, outline_in_python
from obelics_pipeline.stages.extract.tags import TEXT
from obelics_pipeline.stages.extract.tree import TAG
from tests.stages.extract.test_simplify import soup
from tests.stages.extract.trees import tree_of

pytestmark = pytest.mark.skipif(not module.COMPILED, reason="the compiled part was not built")

NESTED = st.lists(
    st.sampled_from(
        "<ul> </ul> <ol> </ol> <li> </li> <dl> <dt> <dd> </dl> <h2> </h2> <h5> <pre> </pre> <blockquote> </blockquote> "
        "<figure><figcaption> </figure> <table><tr><td> <td> <tr><td> </table> <p> </p> a b <img/src=/a> <div> </div>"
        "".split()
    ),
    max_size=25,
).map(" ".join)
ROWS = 40  # of a page, whose numbers repeat on a longer one


@given(soup | NESTED, st.lists(st.integers(0, 5), min_size=ROWS, max_size=ROWS), st.booleans(), st.integers(0, 2**ROWS))
@example("<ol><li>a<ul><li>b</ul><li>c</ol>d<dd>e<ol><li>f", [SHOWN] * ROWS, False, 0)
@example("<ol><li>a<table><tr><td><li>b</table><li>c</ol>", [SHOWN] * ROWS, False, 1)
@example("<pre>a<h1>b</h1><table><tr><td>c</table></pre><pre>d</pre>", [SHOWN] * ROWS, True, 2**ROWS - 1)
@example("", [SHOWN] * ROWS, True, 0)
def test_the_same_happens(html: str, numbers: list[int], with_posts: bool, bits: int) -> None:
    page = tree_of(html)
    repeated = np.resize(np.array(numbers, np.uint8), len(page.rows))
    is_text = page.rows[:, TAG] == TEXT
    states = np.where(is_text, repeated, np.where(repeated == IMAGE, IMAGE, np.where(repeated == SILENT, SILENT, OUT)))
    posts = np.resize(np.array(numbers[::-1], np.int32), len(page.rows)) - 1 if with_posts else None
    arguments = (page.rows, states.astype(np.uint8), posts, lambda row: bool(bits >> (row % ROWS) & 1))
    assert outline(*arguments) == list(outline_in_python(*arguments))


def test_an_error_in_a_table_is_passed_on() -> None:
    def fails(row: int) -> bool:
        raise KeyError(row)

    page = tree_of("<table><tr><td>a</table>")
    with pytest.raises(KeyError):
        outline(page.rows, np.ones(len(page.rows), np.uint8) * (page.rows[:, TAG] == TEXT), None, fails)


def test_a_state_or_a_post_for_other_rows_is_refused() -> None:
    page = tree_of("<p>a")
    states = np.ones(len(page.rows), np.uint8)
    with pytest.raises(ValueError, match="a state of a byte"):
        outline(page.rows, states[1:], None, bool)
    with pytest.raises(ValueError, match="a post of int32"):
        outline(page.rows, states, np.zeros(1 + len(states), np.int32), bool)
    with pytest.raises(ValueError, match="rows of int32"):
        outline(page.rows[:, :3].copy(), states, None, bool)
