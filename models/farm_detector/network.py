"""A small convolutional network over tokens, in whole numbers: the same result on every machine.

Weights and activations are whole numbers of at most 127 in size, and no layer has so many inputs that a sum of their
products, or a part of it, could leave what float32 knows exactly. So BLAS may add in any order and with any number of
threads, and the result is the same; and so is that of `_network.c`, which is compiled for processors that multiply
numbers of 8 bits (x86-64 with AVX2 or AVX-512 VNNI).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from obelics_pipeline.models.farm_detector.packed_layer import PackedLayer
from obelics_pipeline.models.farm_detector.tokens import ENDINGS, FIRST_WORD, LOOKS

try:
    from obelics_pipeline.models.farm_detector import _network as compiled
except ImportError:
    COMPILED = False
    WAYS: tuple[str, ...] = ()
else:
    COMPILED = True
    WAYS = compiled.WAYS  # in which this processor can multiply numbers of 8 bits, the fastest first

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
_ROWS = 256  # tokens of which sums are made at a time: the network takes three quarters of the time
HIDDEN = ("first", "second", "third")
LAYERS = (*HIDDEN, "output")
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
    _weights: dict[str, NDArray[np.float32]] = field(init=False, repr=False, compare=False)  # as BLAS takes them
    _biases: dict[str, NDArray[np.float32]] = field(init=False, repr=False, compare=False)
    _layers: tuple[PackedLayer, ...] = field(init=False, repr=False, compare=False)  # as the compiled part takes them

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
            if array.dtype == np.int8 and array.min(initial=0) < -LIMIT:
                raise ValueError(f"{name}: a weight of {array.min()}; valid are -{LIMIT} to {LIMIT}")
            object.__setattr__(self, name, np.ascontiguousarray(array))
        for name in LAYERS:
            largest = len(getattr(self, name)) * LIMIT**2 + int(np.abs(getattr(self, f"{name}_bias")).max(initial=0))
            if largest + WEIGHT_ONE > EXACT:
                raise ValueError(f"{name}: sums may reach {largest}, and float32 is exact up to {EXACT}")
        # Of hidden layers in units of an activation: a division by a power of two is exact, and a pass less later.
        weights = {name: getattr(self, name) / np.float32(WEIGHT_ONE) for name in HIDDEN}
        biases = {name: (getattr(self, f"{name}_bias") + WEIGHT_ONE // 2) / WEIGHT_ONE for name in HIDDEN}
        object.__setattr__(self, "_weights", weights | {"output": self.output.astype(np.float32)})
        object.__setattr__(self, "_biases", {name: bias.astype(np.float32) for name, bias in biases.items()})
        object.__setattr__(self, "_layers", tuple(self._packed(number, name) for number, name in enumerate(LAYERS)))

    def _packed(self, number: int, name: str) -> PackedLayer:
        weights, bias = getattr(self, name), getattr(self, f"{name}_bias")
        if name in HIDDEN:
            return PackedLayer.of(weights, bias + WEIGHT_ONE // 2, TAPS[number], APART[number])
        return PackedLayer.of(weights, bias, 1, 1)

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
        return self.read_compiled(tokens, WAYS[0]) if WAYS else self.read_in_numpy(tokens)

    def read_compiled(self, tokens: NDArray[np.int32], way: str) -> NDArray[np.int64]:
        """The same, in one of `WAYS`. Raises IndexError for a row that a table does not have."""
        found = np.empty((len(tokens), len(HEADS)), np.int64)
        rows, tables = np.ascontiguousarray(tokens, np.int32), (self.words, self.endings, self.looks, self.topics)
        compiled.log_odds(way, rows, *tables, self.words.shape[1], self.topics.shape[1], self._layers, found)
        return found

    def read_in_numpy(self, tokens: NDArray[np.int32]) -> NDArray[np.int64]:
        """The same, by NumPy."""
        with _blas().limit(limits=1):
            return self._read(*tokens.T)

    def _read(self, word: NDArray[np.int32], ending: NDArray[np.int32], look: NDArray[np.int32]) -> NDArray[np.int64]:
        seen = self.words.take(word, axis=0).astype(np.int16)
        seen += self.endings.take(ending, axis=0)
        seen += self.looks.take(look, axis=0)
        one = self._activated("first", _taps(seen.clip(-LIMIT, LIMIT), 0))
        two = self._activated("second", [*_taps(one, 1), self._agreement(word)])
        three = self._activated("third", _taps(two, 2))
        return self._sums("output", [one, two, three]).astype(np.int64) + self.output_bias

    def _activated(self, name: str, inputs: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
        """What a hidden layer makes of its inputs: activations from 0 to `ONE`."""
        sums = np.empty((len(inputs[0]), len(self._biases[name])), np.float32)
        for part in self._parts(name, inputs, sums):
            part += self._biases[name]
            np.floor(part, out=part)
            part.clip(0, ONE, out=part)
        return sums

    def _sums(self, name: str, inputs: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
        """Inputs as if they stood next to each other, times weights."""
        sums = np.empty((len(inputs[0]), self._weights[name].shape[1]), np.float32)
        for _ in self._parts(name, inputs, sums):
            pass
        return sums

    def _parts(
        self, name: str, inputs: Sequence[NDArray[np.float32]], sums: NDArray[np.float32]
    ) -> Iterator[NDArray[np.float32]]:
        """The rows of `sums` some at a time, filled: neither they nor a copy of all inputs would stay in the cache."""
        ends = list(accumulate(values.shape[1] for values in inputs))
        weights = np.split(self._weights[name], ends[:-1])
        for begin in range(0, len(sums), _ROWS):
            part = sums[begin : begin + _ROWS]
            np.matmul(inputs[0][begin : begin + _ROWS], weights[0], out=part)
            for values, rows in zip(inputs[1:], weights[1:], strict=True):
                part += values[begin : begin + _ROWS] @ rows
            yield part

    def _agreement(self, word: NDArray[np.int32]) -> NDArray[np.float32]:
        """A word's topic times that of the document, and times that of the words near it: shape (words, 2 * topics)."""
        topic = self.topics.take(word, axis=0)
        length, topics = topic.shape
        padded = np.zeros((length + 2 * NEAR + 1, topics), np.float32)
        own = padded[NEAR + 1 : NEAR + 1 + length]
        own[:] = topic
        before = padded.cumsum(axis=0, dtype=np.float32)  # whole numbers, as all sums here
        agreement = np.empty((length, 2 * topics), np.float32)
        document, nearby = agreement[:, :topics], agreement[:, topics:]
        np.multiply(own, before[-1] * np.float32(TOPIC_GAIN / (ONE * max(1, length))), out=document)
        np.subtract(before[2 * NEAR + 1 :], before[:length], out=nearby)
        nearby *= own
        nearby *= np.float32(TOPIC_GAIN / (ONE * (2 * NEAR + 1)))
        np.rint(agreement, out=agreement)
        return agreement.clip(-LIMIT, LIMIT, out=agreement)


@cache
def _blas() -> ThreadpoolController:
    """What decides how many threads BLAS has.

    Processes score many texts at a time, and the products of one text are too small to share: with two threads on a
    busy machine of two cores one product took 8.5 ms of CPU time in place of 0.5.
    """
    return ThreadpoolController().select(user_api="blas")


def _taps(values: NDArray[np.generic], layer: int) -> list[NDArray[np.float32]]:
    """For each tap of a layer, the rows that it sees from each row, zeros beyond the ends: all of the values' shape."""
    taps, apart = TAPS[layer], APART[layer]
    margin = taps // 2 * apart
    padded = np.zeros((len(values) + 2 * margin, values.shape[1]), np.float32)
    padded[margin : margin + len(values)] = values
    return [padded[tap * apart : tap * apart + len(values)] for tap in range(taps)]
