"""A forest answers the same compiled and in NumPy, and a file that is none is refused before it is walked."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.models import forest as module
from obelics_pipeline.models.forest import NODE, Forest, in_turn, log_odds

compiled = pytest.mark.skipif(not module.COMPILED, reason="the compiled walk was not built")

# if a <= 0.5: 10, else (if b <= -1: 20, else 30)
NODES = [(0, 0.5, 1), (-1, 0.0, 10), (1, -1.0, 3), (-1, 0.0, 20), (-1, 0.0, 30)]


def forest(nodes: list[tuple[int, float, int]] = NODES, roots: tuple[int, ...] = (0,)) -> Forest:
    return Forest(("a", "b"), np.array(nodes, NODE), np.array(roots, np.int32))


def rows(*values: tuple[float, float]) -> Any:
    return np.array(values, np.float32).reshape(-1, 2)


def test_a_tree_goes_to_the_child_at_the_threshold_and_below_it() -> None:
    values = rows((0.5, 0), (0.6, -1), (0.6, 0), (np.nan, np.nan), (np.inf, -np.inf), (-np.inf, 0))
    # The child of the first node is a leaf; the node after it is the way of all that is above, or no number.
    assert forest().log_odds(values).tolist() == [10, 20, 30, 30, 20, 10]


def test_trees_are_added_up() -> None:
    assert forest(roots=(0, 2, 1)).log_odds(rows((0, 0))).tolist() == [10 + 30 + 10]
    assert forest(roots=()).log_odds(rows((0, 0))).tolist() == [0]


def test_large_values_do_not_overflow() -> None:
    top = 2**31 - 1
    assert forest([(-1, 0.0, top)], (0, 0, 0)).log_odds(rows((0, 0))).tolist() == [3 * top]


def test_a_forest_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "forest.json"
    written = forest([(0, 0.1, 1), *NODES[1:]], (0, 2))
    written.save(path)
    read = Forest.load(path)
    assert read.features == written.features
    assert read.nodes.tobytes() == written.nodes.tobytes()
    assert read.roots.tolist() == [0, 2]


def stored(**changes: Any) -> Any:
    columns = zip(*NODES, strict=True)
    nodes = dict(zip(("feature", "threshold", "child"), map(list, columns), strict=True))
    value: dict[str, Any] = {"features": ["a", "b"], "roots": [0], "nodes": nodes}
    for name, change in changes.items():
        (nodes if name in nodes else value)[name] = change
    return value


@pytest.mark.parametrize(
    "content",
    [
        None, [], {}, "forest", 7,
        stored(nodes=None), stored(nodes={}), stored(roots=None), stored(roots=["x"]), stored(features=None),
        stored(threshold=[0.5]), stored(threshold=["x"] * 5), stored(feature=[[0]] * 5), stored(child=[None] * 5),
        stored(feature=[2, -1, 1, -1, -1]), stored(feature=[-2, -1, 1, -1, -1]),
        stored(child=[5, 10, 3, 20, 30]), stored(child=[4, 10, 3, 20, 30]), stored(child=[-1, 10, 3, 20, 30]),
        stored(child=[0, 10, 3, 20, 30]), stored(child=[1, 10, 1, 20, 30]),
        stored(roots=[5]), stored(roots=[-1]), stored(child=[1, 2**31, 3, 20, 30]), stored(roots=[2**31]),
    ],
)  # fmt: skip
def test_a_file_that_is_no_forest_is_refused_in_one_line(content: Any, tmp_path: Path) -> None:
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=r"wrong\.json: ") as refused:
        Forest.load(path)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[" * 100_000])
def test_a_file_that_is_no_json_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "wrong.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"wrong\.json: not a forest"):
        Forest.load(path)


def test_a_number_that_nobody_measures_is_refused_by_its_name() -> None:
    forest().check_features(["c", "b", "a"])
    with pytest.raises(ValueError, match="it asks for b, which is no number"):
        forest().check_features({"a": 1.0})


def test_values_of_another_width_are_refused() -> None:
    for shape in ((1, 1), (1, 3), (0, 3), (2,), (1, 2, 1)):
        with pytest.raises(ValueError, match="expected 2 features"):
            forest().log_odds(np.zeros(shape, np.float32))


def test_no_rows_have_no_odds() -> None:
    assert forest().log_odds(np.zeros((0, 2), np.float32)).shape == (0,)


def test_a_forest_may_ask_for_nothing() -> None:
    leaves = Forest((), np.array([(-1, 0.0, 7)], NODE), np.array([0, 0], np.int32))
    assert leaves.log_odds(np.zeros((9, 0), np.float32)).tolist() == [14] * 9


@st.composite
def forests(draw: st.DrawFn) -> Forest:
    """Nodes whose children follow them, as training writes them or not."""
    n = draw(st.integers(1, 30))
    nodes = []
    for number in range(n):
        if number < n - 2 and draw(st.booleans()):
            threshold = draw(st.floats(width=32))  # no number, too: then nothing is at most that
            nodes.append((draw(st.integers(0, 1)), threshold, draw(st.integers(number + 1, n - 2))))
        else:
            nodes.append((-1, 0.0, draw(st.integers(-(2**31), 2**31 - 1))))
    return forest(nodes, tuple(draw(st.lists(st.integers(0, n - 1), max_size=10))))


@compiled
@given(forests(), st.lists(st.tuples(st.floats(width=32), st.floats(width=32)), max_size=20))
def test_twins_say_the_same_to_the_bit(made: Forest, values: list[tuple[float, float]]) -> None:
    table = rows(*values)
    assert made.log_odds(table).tobytes() == log_odds(made.nodes, made.roots, table).tobytes()


@compiled
@given(forests(), st.tuples(st.floats(width=32), st.floats(width=32)), st.integers(1, 8))
def test_trees_that_take_turns_are_added_up_apart(made: Forest, values: tuple[float, float], count: int) -> None:
    row = rows(values)[0]
    found = made.in_turn(row, count)
    assert found == in_turn(made.nodes, made.roots, row, count)
    apart = [replace(made, roots=np.ascontiguousarray(made.roots[turn::count])) for turn in range(count)]
    assert found == [int(one.log_odds(row[None])[0]) for one in apart]


@compiled
@given(forests(), st.lists(st.tuples(st.floats(), st.floats()), min_size=1, max_size=8))
def test_values_that_lie_otherwise_in_memory_are_the_same(made: Forest, values: list[tuple[float, float]]) -> None:
    with np.errstate(over="ignore"):
        table = np.asfortranarray(np.array(values).astype(np.float32))
    assert made.log_odds(table).tolist() == made.log_odds(table.copy("C")).tolist()


def chain(leaves: int) -> Forest:
    """A tree with a leaf for 0 and below, for 1, for 2 …, and the last for what is above all of them."""
    nodes: list[tuple[int, float, int]] = []
    for number in range(leaves - 1):
        nodes += [(0, float(number), 2 * number + 1), (-1, 0.0, number)]
    return forest([*nodes, (-1, 0.0, leaves - 1)])


ranked = pytest.mark.skipif(not module.RANKS, reason="this machine cannot sum by tests")


@ranked
@pytest.mark.parametrize(("leaves", "is_small"), [(1, True), (2, True), (32, True), (33, False)])
def test_as_many_leaves_as_bits_are_told_apart(leaves: int, is_small: bool) -> None:
    made = chain(leaves)
    assert (made._ranked is not None) == is_small
    table = rows(*((number - 1, 0) for number in range(leaves + 2)))
    assert made.log_odds(table).tolist() == log_odds(made.nodes, made.roots, table).tolist()


@ranked
def test_a_threshold_that_is_no_number_is_left_to_the_walk() -> None:
    assert forest([(0, np.nan, 1), *NODES[1:]])._ranked is None


@ranked
@given(forests(), st.lists(st.tuples(st.floats(width=32), st.floats(width=32)), min_size=5, max_size=20))
def test_tests_and_the_walk_say_the_same(made: Forest, values: list[tuple[float, float]]) -> None:
    table = rows(*values)
    walked, summed = np.empty(len(table), np.int64), np.empty(len(table), np.int64)
    module.compiled.log_odds(made.nodes, made.roots, table, walked)
    if made._ranked is not None:
        module.compiled.sums(made._ranked, table, summed)
        assert summed.tolist() == walked.tolist()
