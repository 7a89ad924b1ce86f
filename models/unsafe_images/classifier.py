"""A classifier that is ready: pictures in, for each the probability of the labels that are asked for out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import nan
from typing import Literal

import numpy as np
import numpy.typing as npt

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.pictures.pixels import Fit, Interpolation, Picture, picture
from obelics_pipeline.models.unsafe_images.columns import DIGITS

Outputs = npt.NDArray[np.float32]  # (n, labels): what a model gives, before any softmax
Network = Callable[[Sequence[Picture]], Outputs]
Rule = Literal["softmax", "sigmoid", "probabilities"]  # what makes probabilities of outputs


@dataclass(frozen=True)
class View:
    """How a model is shown an image: the side of the square in pixels, and how it is scaled to it."""

    side: int
    fit: Fit = "squash"
    interpolation: Interpolation = "bilinear"


@dataclass(frozen=True)
class Asked:
    """Which labels' probabilities are summed, and the places of the config that name the model and these labels."""

    labels: tuple[str, ...]
    setting: str
    key: str


UNSAFE = "image_safety.classifier"


@dataclass(frozen=True)
class Classifier:
    """`network` gives outputs in the order of `labels`; those of `summed`, in lower case, are summed.

    `setting` is where the config names the model.
    """

    network: Network
    view: View
    labels: tuple[str, ...]
    summed: tuple[str, ...]
    rule: Rule
    batch: int
    setting: str = UNSAFE

    def scores(self, pictures: Sequence[Picture]) -> list[float | None]:
        """The sum for each, 0 to 1; None where the model gave no number. Raises UserError for odd outputs."""
        return [None if np.isnan(value) else round(value, DIGITS) for value in self.numbers(pictures)]

    def picture(self, content: bytes) -> Picture | None:
        """An image as the network is shown it; None where its bytes cannot be decoded."""
        return picture(content, self.view.side, self.view.fit, self.view.interpolation)

    def numbers(self, pictures: Sequence[Picture]) -> list[float]:
        """The same, not rounded; NaN where the model gave no number. Raises UserError for odd outputs."""
        found: list[float] = []
        for start in range(0, len(pictures), self.batch):
            outputs = self.network(pictures[start : start + self.batch])
            if outputs.ndim != 2 or outputs.shape[1] != len(self.labels):
                raise UserError(
                    f"{self.setting}: the model gives outputs of shape {outputs.shape}, and has {len(self.labels)} "
                    f"labels ({', '.join(self.labels[:8])}); set {self.setting}.labels"
                )
            found += [_within(value) for value in self._sums(outputs.astype(np.float64))]
        return found

    def _sums(self, outputs: npt.NDArray[np.float64]) -> list[float]:
        columns = [i for i, label in enumerate(self.labels) if label.lower() in self.summed]
        probabilities: npt.NDArray[np.float64] = probable(outputs, self.rule)[:, columns].sum(axis=1)
        return [float(value) for value in probabilities]


def probable(outputs: npt.NDArray[np.float64], rule: Rule) -> npt.NDArray[np.float64]:
    """Probabilities of a model's outputs, a row per image."""
    with np.errstate(over="ignore", invalid="ignore"):
        if rule == "softmax":
            powers = np.exp(outputs - outputs.max(axis=1, keepdims=True))
            shares: npt.NDArray[np.float64] = powers / powers.sum(axis=1, keepdims=True)
            return shares
        return 1 / (1 + np.exp(-outputs)) if rule == "sigmoid" else outputs


def _within(value: float) -> float:
    return min(max(value, 0.0), 1.0) if np.isfinite(value) else nan


def summed_labels(labels: Sequence[str], asked: Asked) -> tuple[str, ...]:
    """Which labels of a model are asked for, in lower case. Raises UserError where none is."""
    wanted = {name.lower() for name in asked.labels}
    found = tuple(label.lower() for label in labels if label.lower() in wanted)
    if not found:
        raise UserError(
            f"{asked.setting}.{asked.key}: the model has none of {', '.join(asked.labels)}; its labels are "
            f"{', '.join(labels[:12])}"
        )
    return found
