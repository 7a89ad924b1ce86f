"""A classifier that is ready: pictures in, for each how likely it is unsafe out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.pictures.pixels import Fit, Interpolation, Picture
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
class Classifier:
    """`network` gives outputs in the order of `labels`; those of `unsafe` are summed."""

    network: Network
    view: View
    labels: tuple[str, ...]
    unsafe: tuple[str, ...]
    rule: Rule
    batch: int

    def scores(self, pictures: Sequence[Picture]) -> list[float | None]:
        """How likely each is unsafe, 0 to 1; None where the model gave no number. Raises UserError for odd outputs."""
        found: list[float | None] = []
        for start in range(0, len(pictures), self.batch):
            outputs = self.network(pictures[start : start + self.batch])
            if outputs.ndim != 2 or outputs.shape[1] != len(self.labels):
                raise UserError(
                    f"image_safety.classifier: the model gives outputs of shape {outputs.shape}, and has "
                    f"{len(self.labels)} labels ({', '.join(self.labels[:8])}); set image_safety.classifier.labels"
                )
            found += [_score(value) for value in self._unsafe(outputs.astype(np.float64))]
        return found

    def _unsafe(self, outputs: npt.NDArray[np.float64]) -> list[float]:
        columns = [i for i, label in enumerate(self.labels) if label.lower() in self.unsafe]
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


def _score(value: float) -> float | None:
    return round(min(max(value, 0.0), 1.0), DIGITS) if np.isfinite(value) else None


def unsafe_labels(labels: Sequence[str], unsafe: Sequence[str]) -> tuple[str, ...]:
    """Which labels of a model are unsafe, in lower case. Raises UserError where none is."""
    wanted = {name.lower() for name in unsafe}
    found = tuple(label.lower() for label in labels if label.lower() in wanted)
    if not found:
        raise UserError(
            f"image_safety.classifier.unsafe: the model has none of {', '.join(unsafe)}; its labels are "
            f"{', '.join(labels[:12])}"
        )
    return found
