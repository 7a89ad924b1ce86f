"""What left its range first, and what that makes of the spike."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from obelics_pipeline.training.diagnosis.signals import Lead, leads, onset_of, signals_of
from obelics_pipeline.training.diagnosis.verdict import is_untrained, verdict_of
from obelics_pipeline.training.train.guard.verdict import Verdict as Judged


def lines(n: int, **far: dict[int, float]) -> list[dict[str, Any]]:
    """Calm steps, but for signals at some steps."""
    chance = random.Random(0)
    found = []
    for step in range(1, n + 1):
        line: dict[str, Any] = {"step": step}
        for name, usual in (("loss", 3.0), ("grad_norm", 1.0), ("log_z", 5.0)):
            line[name] = far.get(name, {}).get(step, usual + chance.gauss(0, 0.03))
        line["activations"] = {"0.fc2": {"rms": far.get("rms", {}).get(step, 2 + chance.gauss(0, 0.03)), "max": 9.0}}
        found.append(line)
    return found


def test_the_spike_begins_where_loss_or_gradients_left_their_range() -> None:
    signals = signals_of(lines(100, loss={97: 4.0, 98: 5.0, 100: 5.0}, grad_norm={96: 3.0}), 60)
    assert onset_of(signals, 100) == 97
    signals = signals_of(lines(100, loss={98: 4.0, 99: 5.0, 100: 5.0}, grad_norm={97: 3.0, 98: 9.0}), 60)
    assert onset_of(signals, 100) == 97
    assert onset_of(signals_of(lines(100), 60), 100) == 100


def test_an_earlier_spike_that_returned_is_another_one() -> None:
    assert onset_of(signals_of(lines(100, loss={70: 6.0, 71: 6.0, 99: 5.0, 100: 5.0}), 60), 100) == 99


def test_what_came_before_the_loss_is_said_in_steps() -> None:
    rise = {step: 2 + 0.5 * (step - 89) for step in range(90, 101)}
    found = leads(signals_of(lines(100, loss={99: 4.0, 100: 5.0}, rms=rise), 60), 100)
    assert (found[0].name, found[0].step, found[0].before) == ("activations 0.fc2", 90, 9)
    assert [(lead.name, lead.before) for lead in found[1:]] == [("loss", 0)]


def test_a_number_that_is_none_is_farthest() -> None:
    found = leads(signals_of(lines(100, loss={100: math.nan}), 60), 100)
    assert math.isinf(found[0].farthest)


def test_the_first_steps_of_a_run_have_a_range_too() -> None:
    assert onset_of(signals_of(lines(20, loss={19: 9.0, 20: 9.0}), 1), 20) == 19


@pytest.mark.parametrize(
    ("best", "before", "judged", "untrained", "cause"),
    [
        (20.0, 0, "unknown", False, "data"),
        (20.0, 9, "numerics", False, "data"),  # a bad document makes activations rise as well
        (20.0, 0, "hardware", False, "hardware"),
        (2.0, 9, "unknown", False, "numerics"),
        (2.0, 9, "data", False, "data"),
        (2.0, 0, "unknown", False, "unknown"),
        (20.0, 0, "unknown", True, "unknown"),  # no ranking means anything then
    ],
)
def test_the_verdict(best: float, before: int, judged: Any, untrained: bool, cause: str) -> None:
    leads_ = [Lead("activations 0.fc2", 90, before, 12.0)]
    found = verdict_of(best, "web", leads_, Judged(judged, "", {judged: ("a sign",)}, {}), untrained)
    assert found.cause == cause
    assert found.evidence


def test_a_loss_that_is_no_number_is_numerics() -> None:
    assert (
        verdict_of(0.0, None, [Lead("loss", 90, 0, math.inf)], Judged("unknown", "", {}, {}), False).cause == "numerics"
    )


def test_a_model_that_knows_nothing_is_called_so() -> None:
    assert is_untrained(0.96 * math.log(5000), 5000)
    assert not is_untrained(0.94 * math.log(5000), 5000)
    assert not is_untrained(9.0, None)
