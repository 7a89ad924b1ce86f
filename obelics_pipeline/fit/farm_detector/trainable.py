"""The network of `models.farm_detector.network` in PyTorch, whose weights are rounded while they are learned.

It computes what the network in whole numbers computes, except where rounding falls between two numbers.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from obelics_pipeline.models.farm_detector.network import (
    APART,
    HEADS,
    LIMIT,
    NEAR,
    ONE,
    OUTPUT_GAIN,
    TAPS,
    TOPIC_GAIN,
    WEIGHT_ONE,
    Network,
)
from obelics_pipeline.models.farm_detector.tokens import ENDINGS, LOOKS

CHANNELS, TOPICS, HIDDEN = 64, 32, 96  # with 24,000 words: 2.5 MB
_RARE = (-2.0, -2.0, 0.0)  # log odds to begin with: few words are replaced, half of the texts are generated


class TrainableNetwork(nn.Module):  # type: ignore[misc]  # PyTorch may be missing where types are checked
    """As `Network`, with a batch of documents at a time. `channels` is how many numbers stand for a word."""

    def __init__(self, words: int, channels: int = CHANNELS) -> None:
        super().__init__()
        topics, hidden = channels * TOPICS // CHANNELS, channels * HIDDEN // CHANNELS
        self.words = _table(words, channels, 0.3)
        self.endings = _table(ENDINGS, channels, 0.1)
        self.looks = _table(LOOKS, channels, 0.3)
        self.topics = _table(words, topics, 0.3)
        self.first, self.first_bias = _layer(TAPS[0] * channels, hidden)
        self.second, self.second_bias = _layer(TAPS[1] * hidden + 2 * topics, hidden)
        self.third, self.third_bias = _layer(TAPS[2] * hidden, hidden)
        self.output = nn.Parameter(torch.randn(3 * hidden, len(HEADS)) * 0.05)
        self.output_bias = nn.Parameter(torch.tensor(_RARE))

    def forward(self, tokens: Tensor, there: Tensor, drop: float = 0.0) -> Tensor:
        """Log odds, shape (documents, tokens, heads), of tokens (documents, tokens, 3); `there` is 0 at padding."""
        there = there[..., None]
        word, ending, look = tokens.unbind(-1)
        seen = _rounded(self.words(word)) + _rounded(self.endings(ending)) + _rounded(self.looks(look))
        inputs = torch.clamp(seen, -1, 1) * there
        one = self._activated(_taps(inputs, 0) @ _weights(self.first) + self.first_bias, drop) * there
        two = torch.cat([_taps(one, 1), self._agreement(word, there)], -1) @ _weights(self.second) + self.second_bias
        two = self._activated(two, drop) * there
        three = self._activated(_taps(two, 2) @ _weights(self.third) + self.third_bias, drop)
        return torch.cat([one, two, three], -1) @ _weights(self.output) * OUTPUT_GAIN + self.output_bias

    def _agreement(self, word: Tensor, there: Tensor) -> Tensor:
        topic = _rounded(self.topics(word)) * there
        before = functional.pad(topic.cumsum(1), (0, 0, 1, 0))
        length = word.shape[1]
        places = torch.arange(length)
        near = before[:, (places + NEAR + 1).clamp(max=length)] - before[:, (places - NEAR).clamp(min=0)]
        document = before[:, -1:] / there.sum(1, keepdim=True).clamp(min=1)
        both = torch.cat([topic * document, topic * near / (2 * NEAR + 1)], -1)
        return _rounded(both * TOPIC_GAIN)

    def _activated(self, sums: Tensor, drop: float) -> Tensor:
        clamped = torch.clamp(sums, 0, 1)
        rounded = clamped + (torch.floor(clamped * ONE + 0.5) / ONE - clamped).detach()
        return functional.dropout(rounded, drop, self.training)

    def in_whole_numbers(self) -> Network:
        """The network that is shipped."""
        tables = {name: getattr(self, name).weight for name in ("words", "endings", "looks", "topics")}
        layers = {name: getattr(self, name) for name in ("first", "second", "third", "output")}
        biases = {f"{name}_bias": getattr(self, f"{name}_bias") for name in layers}
        biases["output_bias"] = biases["output_bias"] / OUTPUT_GAIN
        return Network.of(
            {name: _whole(values, ONE) for name, values in tables.items()}
            | {name: _whole(values, WEIGHT_ONE) for name, values in layers.items()}
            | {name: _whole_bias(values) for name, values in biases.items()}
        )


def _table(rows: int, channels: int, spread: float) -> nn.Embedding:
    table = nn.Embedding(rows, channels)
    nn.init.normal_(table.weight, 0, spread)
    return table


def _layer(inputs: int, outputs: int) -> tuple[nn.Parameter, nn.Parameter]:
    return nn.Parameter(torch.randn(inputs, outputs) * 0.08), nn.Parameter(torch.full((outputs,), 0.2))


def _taps(values: Tensor, layer: int) -> Tensor:
    taps, apart = TAPS[layer], APART[layer]
    margin = taps // 2 * apart
    padded = functional.pad(values, (0, 0, margin, margin))
    length = values.shape[1]
    return torch.cat([padded[:, tap * apart : tap * apart + length] for tap in range(taps)], -1)


def _rounded(values: Tensor) -> Tensor:
    """To the numbers that a table can hold; the gradient is that of the values themselves."""
    clamped = torch.clamp(values, -1, 1)
    return clamped + (torch.round(clamped * ONE) / ONE - clamped).detach()


def _weights(values: Tensor) -> Tensor:
    """To the numbers that a layer can hold."""
    clamped = torch.clamp(values, -LIMIT / WEIGHT_ONE, LIMIT / WEIGHT_ONE)
    return clamped + (torch.round(clamped * WEIGHT_ONE) / WEIGHT_ONE - clamped).detach()


def _whole(values: Tensor, one: int) -> NDArray[np.int8]:
    found: NDArray[np.int8] = torch.clamp(torch.round(values.detach() * one), -LIMIT, LIMIT).to(torch.int8).numpy()
    return found


def _whole_bias(values: Tensor) -> NDArray[np.int32]:
    found: NDArray[np.int32] = torch.round(values.detach() * (ONE * WEIGHT_ONE)).to(torch.int32).numpy()
    return found
