"""A larger model's loss must lie below a smaller one's at equal tokens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.training.experiments.evaluate.expect import expect
from tests.training.diagnosis.made import Made


def curve(steps: int, level: float, tokens: int = 1000, seed: int = 0, broken_at: int = 10**9) -> list[dict[str, Any]]:
    noise = np.random.default_rng(seed).normal(0, 0.02, steps)
    losses = [level + 4 * (s * tokens / 1e4 + 1) ** -0.5 + n + (s > broken_at) for s, n in enumerate(noise, 1)]
    return [{"step": s, "tokens": tokens, "loss": loss} for s, loss in enumerate(losses, 1)]


def test_a_larger_model_that_learns_is_fine_and_one_that_does_not_is_above() -> None:
    small = curve(400, 2.0)
    assert expect(curve(200, 1.6, tokens=2000, seed=1), small).fine
    bad = expect(curve(200, 1.6, tokens=2000, seed=1, broken_at=150), small)
    assert not bad.fine
    assert 150 < bad.above[0] < 165  # as soon as the mean of twenty steps has risen
    assert bad.last > bad.bound


def test_steps_of_other_sizes_are_compared_at_equal_tokens() -> None:
    small = curve(400, 2.0, tokens=1000)
    same = expect(curve(100, 1.99, tokens=4000, seed=3), small, scale=1.05)
    assert same.fine and len(same.above) < 5


def test_the_bound_can_be_scaled_and_too_few_steps_compare_nothing() -> None:
    small = curve(400, 2.0)
    assert not expect(curve(400, 1.8, seed=2), small, scale=0.8).fine
    assert expect(curve(400, 1.8, seed=2), small, scale=1.2).fine
    assert expect(curve(5, 1.8), small).compared == 0


def test_the_command_raises_the_alarm(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = Made(tmp_path / "small", 300).begin(tmp_path / "plan").train(1, 60).written()
    risen = dict.fromkeys(range(30, 61), 2.0)
    large = Made(tmp_path / "large", 300).begin(tmp_path / "plan").train(1, 60, risen).written()
    assert main(["expect", str(small), "--small", str(small), "--scale", "1.01"]) == 0
    assert "fine" in capsys.readouterr().out
    assert main(["expect", str(large), "--small", str(small)]) == 1
    assert "ALARM" in capsys.readouterr().out
    assert main(["expect", str(large), "--small", str(small), "--scale", "0"]) == 2
