"""Marks are kept in a file, and tell what a rule is worth and where its threshold should be."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.rates import Share
from obelics_pipeline.inspect.tune.marks import Marks, for_budget, for_precision, judge


def test_marks_stay_and_are_removed(tmp_path: Path) -> None:
    file = tmp_path / "tune" / "marks.jsonl"
    marks = Marks(file)
    marks.set("b", "bad")
    marks.set("a", "good")
    marks.set("c", "bad")
    marks.set("c", None)
    again = Marks(file)
    assert (again.of("a"), again.of("b"), again.of("c"), len(again)) == ("good", "bad", None, 2)
    assert file.read_text() == '{"doc_id": "a", "mark": "good"}\n{"doc_id": "b", "mark": "bad"}\n'
    assert again.rows({"b": 7, "x": 1}, "bad") == [7]


@pytest.mark.parametrize("line", ["", "[]", '{"doc_id": "a"}', '{"doc_id": "a", "mark": "so-so"}', "\x00"])
def test_a_file_of_something_else_is_refused_with_its_line(tmp_path: Path, line: str) -> None:
    file = tmp_path / "marks.jsonl"
    file.write_text('{"doc_id": "a", "mark": "good"}\n' + line + "\n")
    with pytest.raises(UserError, match=r"marks\.jsonl:2: not a mark"):
        Marks(file)


def test_a_rule_is_judged_by_the_marked_documents_alone() -> None:
    judged = judge(np.array([True, True, True, False, False]), good=[1, 3], bad=[0, 4])
    assert (judged.precision, judged.recall) == (Share(1, 2), Share(1, 2))
    assert judge(np.array([False]), [0], []).to_json()["recall"]["value"] is None


@pytest.mark.parametrize("side", ["min", "max"])
def test_a_threshold_for_a_precision_drops_as_many_bad_ones_as_it_can(side: str) -> None:
    scores = np.array([0.1, 0.4, 0.5, 0.8, 0.9, np.nan]) * (1 if side == "max" else -1)
    found = for_precision(scores, good=[0, 1, 3], bad=[2, 4, 5], side=side, wanted=0.6)  # type: ignore[arg-type]
    assert abs(found or 0) == pytest.approx(0.45)  # drops 0.5, 0.8, 0.9: two of three are bad
    found = for_precision(scores, good=[0, 1, 3], bad=[2, 4], side=side, wanted=0.9)  # type: ignore[arg-type]
    assert abs(found or 0) == pytest.approx(0.85)
    assert for_precision(scores, good=[4], bad=[0], side=side, wanted=0.9) is None  # type: ignore[arg-type]
    assert for_precision(scores, good=[], bad=[], side=side, wanted=0.9) is None  # type: ignore[arg-type]


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 50)), min_size=1, max_size=30), st.integers(0, 500))
def test_a_threshold_for_a_budget_is_the_loosest_that_fits(rows: list[tuple[float, int]], wanted: int) -> None:
    scores, tokens = np.array([row[0] for row in rows]), np.array([float(row[1]) for row in rows])
    found = for_budget(scores, tokens, "max", wanted)
    if found is None:
        assert tokens[scores == scores.min()].sum() > wanted
        return
    assert tokens[scores <= found].sum() <= wanted
    looser = scores[scores > found]
    if len(looser):
        assert tokens[scores <= looser.min()].sum() > wanted


def test_documents_without_a_score_are_in_every_budget() -> None:
    assert for_budget(np.array([np.nan, 0.5]), np.array([10.0, 10.0]), "max", 15) is None
    assert for_budget(np.array([np.nan, 0.5]), np.array([10.0, 10.0]), "min", 20) == 0.5
    assert for_budget(np.array([np.nan]), np.array([10.0]), "max", 5) is None
