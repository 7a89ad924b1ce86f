"""Progress runs from nothing to all of it; the middle of a map is 0."""

import numpy as np
import pytest

pytest.importorskip("openTSNE")
pytest.importorskip("sklearn")

from obelics_pipeline.inspect.map.layout import EARLY, LATE, lay_out
from obelics_pipeline.inspect.map.vectors import DIMENSIONS, of_length_one


def test_turns_are_counted_through_both_phases() -> None:
    vectors = of_length_one(np.random.default_rng(0).normal(size=(40, DIMENSIONS)).astype(np.float32))
    searched, turned = list[tuple[int, int]](), list[tuple[int, int]]()
    points = lay_out(vectors, 1, lambda *at: searched.append(at), lambda *at: turned.append(at))
    assert searched[-1] == (40, 40)
    assert turned == sorted(set(turned)) and turned[-1] == (EARLY + LATE, EARLY + LATE)
    assert np.abs(points.mean(axis=0)).max() < 1e-4
