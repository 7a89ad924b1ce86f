"""Spikes: found where they are, none in a clean falling curve."""

import math
import random

from obelics_pipeline.training.experiments.ablate.experiment import Spikes
from obelics_pipeline.training.experiments.ablate.spikes import spikes_of


def falling(steps: int, seed: int = 1) -> list[float]:
    """A loss as it falls, with noise."""
    chance = random.Random(seed)
    return [2 + 5 * math.exp(-i / 60) + chance.gauss(0, 0.05) for i in range(steps)]


def test_a_falling_curve_has_none() -> None:
    assert all(spikes_of(falling(400, seed), Spikes()) == [] for seed in range(20))


def test_jumps_are_found_and_do_not_hide_each_other() -> None:
    curve: list[float | None] = list(falling(400))
    for at in (200, 201, 202, 300):
        curve[at] = 9.0
    assert spikes_of(curve, Spikes()) == [200, 201, 202, 300]


def test_what_is_no_number_is_a_spike_at_any_step() -> None:
    assert spikes_of([3.0, None, 3.0, math.nan], Spikes()) == [1, 3]


def test_values_far_below_are_none() -> None:
    curve: list[float | None] = list(falling(400))
    curve[300] = 0.1
    assert spikes_of(curve, Spikes()) == []


def test_only_the_window_counts() -> None:
    curve = [10.0 + i % 3 for i in range(100)] + [1.0 + i % 3 / 10 for i in range(100)] + [5.0]
    assert spikes_of(curve, Spikes(window=50)) == [200]
    assert spikes_of(curve, Spikes(window=1000)) == []
