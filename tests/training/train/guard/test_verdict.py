"""What a spike was, and what moved first."""

from collections.abc import Callable
from dataclasses import replace
from math import isfinite, nan
from typing import Any

import numpy as np
import pytest

from obelics_pipeline.training.train.guard.lead_lag import lead_lag, lead_lags
from obelics_pipeline.training.train.guard.observation import Observation
from obelics_pipeline.training.train.guard.progress import Plateau, falls, no_progress
from obelics_pipeline.training.train.guard.verdict import verdict
from tests.training.train.guard.series import clean, grown, louder

AT = 300


def line(seen: Observation) -> dict[str, Any]:
    """As the loop writes it."""
    number = lambda x: x if isfinite(x) else None  # noqa: E731
    return {
        "step": seen.step, "cursor": seen.cursor, "rows": seen.rows, "lr": seen.lr, "loss": number(seen.loss),
        "grad_norm": number(seen.grad_norm), "log_z": number(seen.log_z),
        "datasets": {
            n: {"loss": d.loss, "targets": d.targets, "log_z": d.log_z, "worst": d.worst}
            for n, d in seen.datasets.items()
        },
        "activations": {n: {"rms": a.rms, "max": a.max} for n, a in seen.activations.items()},
    }  # fmt: skip


def lines(seed: int, change: Callable[[Observation], Observation], stop: int = 10**9) -> list[dict[str, Any]]:
    return [line(change(s) if AT <= s.step < stop else s) for s in clean(seed, AT + 60)]


def bad_document(seen: Observation) -> Observation:
    name = min(seen.datasets, key=lambda n: seen.datasets[n].targets)
    sets = {n: replace(d, loss=1.5 * d.loss, worst=4 * d.worst) if n == name else d for n, d in seen.datasets.items()}
    return replace(seen, datasets=sets, loss=1.1 * seen.loss)


@pytest.mark.parametrize("seed", [400, 401, 402])
def test_four_kinds_are_told_apart(seed: int) -> None:
    data = verdict(lines(seed, bad_document, AT + 1), AT)
    assert data.kind == "data", data.evidence
    broken = verdict(lines(seed, lambda s: replace(louder(s, 0.5), log_z=s.log_z - 6)), AT)
    assert broken.kind == "numerics" and "log z fell" in broken.why
    event = {"kind": "hardware", "step": AT + 4, "event": "xid 63 at 0000:10:1c"}
    hardware = verdict(lines(seed, lambda s: louder(s, 0.5)), AT, [event])
    assert hardware.kind == "hardware" and "xid 63" in hardware.why
    unknown = verdict(lines(seed, lambda s: louder(s, 0.5)), AT)
    assert unknown.kind == "unknown", unknown.evidence


def test_activations_that_rose_first_are_numerics() -> None:
    alarm = {
        "kind": "alarm",
        "alarm": "activation_drift",
        "signal": "activation:1.fc2",
        "step": AT - 5,
        "since": AT - 20,
    }
    found = verdict(lines(7, lambda s: grown(louder(s, 0.5), "1", 9)), AT, [alarm])
    assert found.kind == "numerics" and "activation:1.fc2 rose from step 280 on, 20 steps before" in found.why


def test_a_hardware_event_far_away_is_none() -> None:
    event = {"kind": "hardware", "step": AT - 51, "event": "xid 63"}
    assert verdict(lines(7, lambda s: louder(s, 0.5)), AT, [event]).evidence["hardware"] == ()


def test_no_lines_are_no_verdict() -> None:
    assert verdict([], 5).kind == "unknown"


def test_what_comes_first_has_a_lead() -> None:
    draw = np.random.default_rng(1)
    base = draw.normal(size=220).cumsum()
    loss, early, late = base[10:210], base[15:215], -base[7:207]
    found = lead_lags(list(loss), {"early": list(early), "late": list(late), "still": [1.0] * 200})
    assert found["early"].lag == 5 and found["early"].correlation > 0.9
    assert found["late"].lag == -3 and found["late"].correlation < -0.9
    assert "still" not in found


def test_gaps_are_skipped_and_too_little_gives_nothing() -> None:
    values = [float(v) for v in np.random.default_rng(2).normal(size=80)]
    holes = [nan if i % 9 == 0 else v for i, v in enumerate(values)]
    found = lead_lag(values, holes)
    assert found is not None and found.lag == 0
    assert lead_lag(values[:6], values[:6]) is None


def test_a_plateau_is_an_event_once_and_a_fall_is_none() -> None:
    draw = np.random.default_rng(3)
    flat, falling = Plateau(400), Plateau(400)
    events = [flat.feed(2 + 0.1 * float(draw.normal())) for _ in range(1000)]
    assert sum(events) in (1, 2) and events.index(True) == 399
    assert not any(falling.feed(2 - 0.001 * i + 0.1 * float(draw.normal())) for i in range(1000))
    assert falls([5, 4.1, 3, 2.2, 1]) and not falls([1, 1.2, 0.9, 1.1, 1])


def test_no_progress_is_no_new_best_anywhere() -> None:
    history = [{"web": 3.0, "pairs": 2.0}, {"web": 2.9, "pairs": 1.9}, {"web": 2.95, "pairs": 1.95}, {"web": 3.0}]
    assert no_progress(history, 2) and not no_progress(history, 3) and not no_progress(history, 4)
