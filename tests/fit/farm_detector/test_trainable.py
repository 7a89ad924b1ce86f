"""What is learned in floats is what is computed in whole numbers."""

import numpy as np
import pytest

from obelics_pipeline.models.farm_detector.network import LOG_ODDS_ONE
from obelics_pipeline.models.farm_detector.tokens import ENDINGS, LOOKS

torch = pytest.importorskip("torch")

WORDS = 300


@pytest.mark.parametrize("count", [1, 4, 70])
def test_the_network_in_whole_numbers_says_the_same(count: int) -> None:
    from obelics_pipeline.fit.farm_detector.trainable import TrainableNetwork

    torch.manual_seed(0)
    learned = TrainableNetwork(WORDS).eval()
    rows = np.random.default_rng(count).integers(0, [WORDS, ENDINGS, LOOKS], (count, 3))
    padded = np.zeros((2, count + 9, 3), np.int64)
    padded[0, :count] = rows
    padded[1] = 1
    there = torch.zeros(2, count + 9)
    there[0, :count] = there[1] = 1
    with torch.no_grad():
        in_floats = learned(torch.from_numpy(padded), there)[0, :count].numpy()
    in_whole_numbers = learned.in_whole_numbers().read(rows.astype(np.int32)) / LOG_ODDS_ONE
    assert np.abs(in_floats - in_whole_numbers).max() < 0.05  # where a sum falls between two numbers
    assert in_floats.std() > 0.1


def test_gradients_reach_every_weight_through_the_rounding() -> None:
    from obelics_pipeline.fit.farm_detector.trainable import TrainableNetwork

    torch.manual_seed(0)
    learned = TrainableNetwork(WORDS)
    rows = np.random.default_rng(1).integers(0, [WORDS, ENDINGS, LOOKS], (4, 50, 3))
    learned(torch.from_numpy(rows), torch.ones(4, 50)).square().mean().backward()
    for name, weights in learned.named_parameters():
        assert weights.grad is not None, name
        assert weights.grad.abs().sum() > 0, name
