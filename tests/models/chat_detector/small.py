"""A small detector by hand, a language model of a few words, and a text long enough to be judged."""

import numpy as np

from obelics_pipeline.models.chat_detector.detector import MIX_ONE, NOTHING, ChatDetector, Mix
from obelics_pipeline.models.chat_detector.word_habits import SLOTS, slots_of
from obelics_pipeline.models.forest import NODE, SCALE, Forest
from obelics_pipeline.models.perplexity import Reading

PLAIN = "They went down to the harbour and sent the old boat home. " * 10
CHATTY = "Overall, they delve into the vibrant harbour and embrace it. " * 10


class Foresees:
    """In place of a KenLM model: each word is a piece, all pieces are as likely, and alone a tenth of that."""

    def __init__(self, log10: float = -1.0) -> None:
        self._log10 = log10

    def read(self, text: str) -> Reading:
        pieces = [f"▁{word}" for word in text.split()]
        count = len(pieces)
        return Reading(
            pieces, [self._log10] * count, [self._log10 - 1] * count, [1, 2, 3] * (count // 3) + [3] * (count % 3)
        )


def forest() -> Forest:
    """One tree: pieces are likelier than one in a hundred, or not."""
    nodes = np.array([(0, -2000.0, 1), (-1, 0, -SCALE), (-1, 0, SCALE)], NODE)
    return Forest(("known_mean",), nodes, np.array([0], np.int32))


def detector() -> ChatDetector:
    """It finds "delve" and "vibrant", each of weight 1."""
    weights = np.zeros(SLOTS, np.int8)
    weights[slots_of(["delve"])[0]] = 64
    weights[slots_of(["vibrant"])[0]] = 64
    return ChatDetector(weights, 64, forest(), Mix(MIX_ONE, MIX_ONE, 0), NOTHING, {})
