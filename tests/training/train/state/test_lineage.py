from pathlib import Path

import pytest

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.training.train.state.ledger import Ledger
from obelics_pipeline.training.train.state.lineage import Lineage


def lineage(tmp_path: Path, *beginnings: tuple[int | None, int]) -> Lineage:
    """Attempts from 1, each (parent, from_step)."""
    ledger = Ledger(tmp_path / "ledger.jsonl")
    for attempt, (parent, from_step) in enumerate(beginnings, start=1):
        kind = "start" if parent is None else "resume"
        ledger.append(kind, attempt=attempt, step=from_step, parent=parent, from_step=from_step)
    return Lineage(ledger.entries)


def test_a_step_belongs_to_the_attempt_whose_weights_went_on(tmp_path: Path) -> None:
    tree = lineage(tmp_path, (None, 0), (1, 250), (2, 400))
    assert [tree.owner(step) for step in (0, 1, 250, 251, 400, 401, 9999)] == [1, 1, 1, 2, 2, 3, 3]


def test_a_rollback_past_the_beginning_of_its_parent_leaves_nothing_of_that(tmp_path: Path) -> None:
    tree = lineage(tmp_path, (None, 0), (1, 250), (2, 100))
    assert [tree.owner(step) for step in (100, 101, 250, 300)] == [1, 3, 3, 3]
    assert [(attempt.number, until) for attempt, until in tree.line()] == [(1, 100), (2, 100), (3, None)]


def test_steps_are_those_that_an_attempt_has_had_of_its_parents_and_its_own(tmp_path: Path) -> None:
    tree = lineage(tmp_path, (None, 0), (1, 250), (2, 100))
    assert tree.parts(2, 240, 260) == [(1, 240, 250), (2, 251, 260)]
    assert tree.parts(3, 90, 300) == [(1, 90, 100), (3, 101, 300)]
    assert tree.parts(3, 5, 9) == [(1, 5, 9)]


def test_a_branch_that_was_left_is_off_the_line_though_it_is_younger(tmp_path: Path) -> None:
    tree = lineage(tmp_path, (None, 0), (1, 100), (1, 150))
    assert not tree.on_line(2, 120)
    assert tree.on_line(1, 150)
    assert tree.on_line(3, 151)


def test_the_stitched_curve_has_each_step_once_and_the_rest_is_waste(tmp_path: Path) -> None:
    tree = lineage(tmp_path, (None, 0), (1, 2), (2, 3))
    done = [(1, 1), (1, 2), (1, 3), (2, 3), (2, 4), (3, 4), (3, 5)]
    assert tree.stitched(done) == [(1, 1), (1, 2), (2, 3), (3, 4), (3, 5)]
    assert tree.wasted(done) == 2


def test_steps_that_the_last_attempt_has_not_reached_again_are_waste_too(tmp_path: Path) -> None:
    tree = lineage(tmp_path, (None, 0), (1, 1))
    assert tree.stitched([(1, 1), (1, 2), (2, 2), (1, 3)]) == [(1, 1), (2, 2)]


def test_an_attempt_begins_once_and_after_its_parent(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.append("resume", attempt=2, step=5, parent=1, from_step=5)
    with pytest.raises(UserError, match="attempt 1, which never began"):
        Lineage(ledger.entries)
    ledger = Ledger(tmp_path / "other.jsonl")
    ledger.append("start", attempt=1, step=0)
    ledger.append("start", attempt=1, step=0)
    with pytest.raises(UserError, match="a second time"):
        Lineage(ledger.entries)


def test_a_ledger_without_attempts_has_no_line(tmp_path: Path) -> None:
    assert Lineage(()).owner(1) is None
    assert Lineage(()).stitched([(1, 1)]) == []
