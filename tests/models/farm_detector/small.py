"""A small detector of random weights: what it says means nothing, and how it says it is what is tested."""

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.models.farm_detector.detector import Detector
from obelics_pipeline.models.farm_detector.network import HEADS, TAPS, Network
from obelics_pipeline.models.farm_detector.tokens import ENDINGS, LOOKS, Vocabulary
from obelics_pipeline.models.forest import NODE, Forest

WORDS = [".", ",", "the", "of", "and", "a", "to", "in", "harbour", "send", "boat", "house", "old", "new", "!", "?"]
CHANNELS, TOPICS, HIDDEN = 6, 4, 5


def arrays(
    seed: int = 1, words: int = len(Vocabulary(WORDS)), channels: int = CHANNELS, hidden: int = HIDDEN
) -> dict[str, NDArray[np.generic]]:
    random = np.random.default_rng(seed)

    def weights(*shape: int) -> NDArray[np.int8]:
        return random.integers(-127, 128, shape).astype(np.int8)

    def bias(size: int) -> NDArray[np.int32]:
        return random.integers(-9000, 9000, size).astype(np.int32)

    return {
        "words": weights(words, channels),
        "endings": weights(ENDINGS, channels),
        "looks": weights(LOOKS, channels),
        "topics": weights(words, TOPICS),
        "first": weights(TAPS[0] * channels, hidden),
        "first_bias": bias(hidden),
        "second": weights(TAPS[1] * hidden + 2 * TOPICS, hidden),
        "second_bias": bias(hidden),
        "third": weights(TAPS[2] * hidden, hidden),
        "third_bias": bias(hidden),
        "output": weights(3 * hidden, len(HEADS)),
        "output_bias": bias(len(HEADS)),
    }


def forest(feature: str = "distinct_50") -> Forest:
    """One tree: more than half of the words of a window are distinct, or not."""
    nodes = np.array([(0, 0.5, 1), (-1, 0, 1 << 17), (-1, 0, -(1 << 17))], NODE)
    return Forest((feature,), nodes, np.array([0], np.int32))


def detector() -> Detector:
    return Detector("en", Vocabulary(WORDS), Network.of(arrays()), forest(), {"threshold": 0.5})
