"""What the heads of the network say of a text is the same compiled and in NumPy, to the last digit."""

import numpy as np
import pytest

from obelics_pipeline.models.farm_detector import heads
from obelics_pipeline.models.farm_detector.heads import NAMES, columns, columns_compiled, columns_in_numpy


@pytest.mark.skipif(not heads.COMPILED, reason="the compiled heads were not built")
@pytest.mark.parametrize("tokens", [1, 2, 7, 8, 9, 16, 17, 100, 127, 128, 129, 200, 255, 256, 257, 511, 768, 1500])
def test_compiled_they_are_those_of_numpy(tokens: int) -> None:
    drawn = np.random.default_rng(tokens)
    log_odds, probability = drawn.integers(-9000, 9000, (3, tokens)) / 2032, drawn.random((3, tokens))
    assert columns_compiled(log_odds, probability).tolist() == columns_in_numpy(log_odds, probability).tolist()


def test_columns_are_means_tails_and_stretches() -> None:
    probability = np.array([[0.0] * 80 + [1.0] * 20])
    found = dict(zip(NAMES, columns(probability * 4, probability)[0].tolist(), strict=True))
    assert (found["mean"], found["log_odds"], found["over_0.5"]) == (0.2, 0.8, 0.2)
    assert (found["quantile_0.75"], found["quantile_0.9"]) == (0, 4)
    assert (found["highest_16"], found["lowest_16"], found["highest_128"]) == (1, 0, 0.2)


@pytest.mark.skipif(not heads.COMPILED, reason="the compiled heads were not built")
def test_arrays_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="do not fit together"):
        heads.compiled.columns(np.zeros((3, 4)), np.zeros((3, 5)), 3)
