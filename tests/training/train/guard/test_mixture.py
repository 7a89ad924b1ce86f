"""Of which data sets steps are made: a change is seen, and what is usual is what came of it."""

from __future__ import annotations

import pytest

from obelics_pipeline.training.train.guard.mixture import Mixture

BEFORE, AFTER = {"easy": 800, "hard": 200}, {"easy": 200, "hard": 800}


def fed(steps_before: int, steps_after: int) -> tuple[Mixture, list[int]]:
    """A mixture after so many steps of either mix, and in which steps it said that the mix is another one."""
    mixture = Mixture(recent=16, span=64, first=48)
    steps = [BEFORE] * steps_before + [AFTER] * steps_after
    return mixture, [number for number, targets in enumerate(steps) if mixture.feed(targets)]


def test_a_mix_that_stays_is_never_another_one() -> None:
    mixture, changes = fed(300, 0)
    assert changes == []
    assert mixture.usual == pytest.approx({"easy": 0.8, "hard": 0.2})


def test_a_change_is_told_when_it_is_seen_and_when_enough_steps_have_come_after_it() -> None:
    mixture, (seen, settled) = fed(100, 100)
    assert 100 <= seen < 116
    assert settled == seen + 16
    assert mixture.usual == pytest.approx({"easy": 0.2, "hard": 0.8})


def test_a_mean_is_told_for_the_usual_mix() -> None:
    mixture, _ = fed(100, 0)
    here, usual = mixture.expected(AFTER, {"easy": 1.0, "hard": 3.0})
    assert (here, usual) == pytest.approx((2.6, 1.4))
    assert mixture.expected(AFTER, {"easy": 1.0}) == (1.0, 1.0)
