"""A small convolutional network over tokens, in whole numbers: the same result on every machine.

Weights and activations are whole numbers of at most 127 in size, and no layer has so many inputs that a sum of their
products, or a part of it, could leave what float32 knows exactly. So BLAS may add in any order and with any number of
threads, and the result is the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

import numpy as np
from numpy.typing import NDArray

from models.farm_detector.tokens import ENDINGS, FIRST_WORD, LOOKS

LIMIT = 127  # of a weight and of an activation
ONE = 127  # an activation of 1.0
WEIGHT_ONE = 64  # a weight of 1.0: weights reach almost 2
OUTPUT_GAIN = 4  # so that outputs reach the log odds they need
LOG_ODDS_ONE = ONE * WEIGHT_ONE // OUTPUT_GAIN  # log odds of 1.0 in an output
EXACT = 2**24  # up to here float32 knows every whole number

TAPS = (5, 3, 3)  # tokens that each layer sees at once
APART = (1, 2, 5)  # tokens from tap to tap of each layer
NEAR = 24  # tokens before and after a token, whose topic is compared with its own
TOPIC_GAIN = 4  # products of topics are small
LAYERS = ("first", "second", "third", "output")
HEADS = ("replaced", "junction", "generated")  # the word is not the writer's; does not follow; is of a generated text


@dataclass(frozen=True, slots=True)
class Network:
    """The weights: tables with a row per word, ending and look; layers of shape (inputs, outputs).

    The inputs of a layer are its taps one after the other, to which the second adds how a word's topic agrees with that
    of the document, and with that of the words near it. All three layers are the inputs of the output.
    """

    words: NDArray[np.int8]
    endings: NDArray[np.int8]
    looks: NDArray[np.int8]
    topics: NDArray[np.int8]  # of words
    first: NDArray[np.int8]
    first_bias: NDArray[np.int32]
    second: NDArray[np.int8]
    second_bias: NDArray[np.int32]
    third: NDArray[np.int8]
    third_bias: NDArray[np.int32]
    output: NDArray[np.int8]
    output_bias: NDArray[np.int32]
    _layers: dict[str, NDArray[np.float32]] = field(init=False, repr=False, compare=False)  # as BLAS takes them

    def __post_init__(self) -> None:
        """Raises ValueError for arrays that do not fit together: a file that we did not write is not trusted."""
        for name, array in self.arrays().items():
            if array.ndim != (1 if name.endswith("_bias") else 2):
                raise ValueError(f"{name}: {array.ndim} dimensions")
        for name, shape in self._shapes().items():
            wanted = np.int32 if name.endswith("_bias") else np.int8
            array = getattr(self, name)
            if array.dtype != wanted or array.shape != shape:
                raise ValueError(f"{name}: {array.dtype} of shape {array.shape}, not {np.dtype(wanted)} of {shape}")
        for name in LAYERS:
            largest = len(getattr(self, name)) * LIMIT**2 + int(np.abs(getattr(self, f"{name}_bias")).max(initial=0))
            if largest + WEIGHT_ONE > EXACT:
                raise ValueError(f"{name}: sums may reach {largest}, and float32 is exact up to {EXACT}")
        object.__setattr__(self, "_layers", {name: getattr(self, name).astype(np.float32) for name in LAYERS})

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        rows = max(len(self.words), FIRST_WORD)
        channels, topics = self.words.shape[-1], self.topics.shape[-1]
        sizes = [len(bias) for bias in (self.first_bias, self.second_bias, self.third_bias)]
        return {
            "words": (rows, channels),
            "endings": (ENDINGS, channels),
            "looks": (LOOKS, channels),
            "topics": (rows, topics),
            "first": (TAPS[0] * channels, sizes[0]),
            "first_bias": (sizes[0],),
            "second": (TAPS[1] * sizes[0] + 2 * topics, sizes[1]),
            "second_bias": (sizes[1],),
            "third": (TAPS[2] * sizes[1], sizes[2]),
            "third_bias": (sizes[2],),
            "output": (sum(sizes), len(HEADS)),
            "output_bias": (len(HEADS),),
        }

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[np.generic]]) -> Network:
        """The network of these arrays. Raises ValueError where they are none."""
        names = [field.name for field in fields(cls) if field.init]
        if missing := [name for name in names if name not in arrays]:
            raise ValueError(f"no array {missing[0]}")
        return cls(**{name: arrays[name] for name in names})  # type: ignore[arg-type]

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """What `of` takes."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.init}

    def read(self, tokens: NDArray[np.int32]) -> NDArray[np.int64]:
        """Log odds of each of `HEADS`, in 1 / `LOG_ODDS_ONE`, of tokens as `Vocabulary.read` gives them.

        Shape (tokens, 3), as that of the tokens.
        """
        word, ending, look = tokens.T
        seen = self.words[word].astype(np.int16) + self.endings[ending] + self.looks[look]
        layers = self._layers
        one = _activated(_taps(np.clip(seen, -LIMIT, LIMIT), 0) @ layers["first"], self.first_bias)
        two = np.hstack([_taps(one, 1), self._agreement(word)])
        two = _activated(two @ layers["second"], self.second_bias)
        three = _activated(_taps(two, 2) @ layers["third"], self.third_bias)
        sums = np.hstack([one, two, three]) @ layers["output"]
        return sums.astype(np.int64) + self.output_bias

    def _agreement(self, word: NDArray[np.int32]) -> NDArray[np.float32]:
        """A word's topic times that of the document, and times that of the words near it: shape (words, 2 * topics)."""
        topic = self.topics[word].astype(np.int64)
        before = np.zeros((len(topic) + 1, topic.shape[1]), np.int64)
        np.cumsum(topic, axis=0, out=before[1:])
        places = np.arange(len(topic))
        near = before[np.minimum(places + NEAR + 1, len(topic))] - before[np.maximum(places - NEAR, 0)]
        document = topic * before[-1] * TOPIC_GAIN / (ONE * len(topic))
        nearby = topic * near * TOPIC_GAIN / (ONE * (2 * NEAR + 1))
        agreement: NDArray[np.float64] = np.rint(np.hstack([document, nearby]))
        return agreement.clip(-LIMIT, LIMIT).astype(np.float32)


def _taps(values: NDArray[np.generic], layer: int) -> NDArray[np.float32]:
    """Each row with those around it that a layer sees, zeros beyond the ends: shape (rows, taps * channels)."""
    taps, apart = TAPS[layer], APART[layer]
    margin = taps // 2 * apart
    padded = np.zeros((len(values) + 2 * margin, values.shape[1]), np.float32)
    padded[margin : margin + len(values)] = values
    return np.hstack([padded[tap * apart : tap * apart + len(values)] for tap in range(taps)])


def _activated(sums: NDArray[np.float32], bias: NDArray[np.int32]) -> NDArray[np.float32]:
    """The sums, rounded in place to activations from 0 to `ONE`."""
    sums += bias + WEIGHT_ONE // 2
    sums *= 1 / WEIGHT_ONE
    np.floor(sums, out=sums)
    np.clip(sums, 0, ONE, out=sums)
    return sums
