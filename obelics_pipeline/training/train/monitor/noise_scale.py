"""How noisy gradients are: the simple noise scale of McCandlish et al. 2018 (arXiv 1812.06162, appendix A.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass
class NoiseScale:
    """Moving averages of its two parts; their ratio is in the unit of the batch sizes (targets, say).

    The squared norm of a gradient over b examples is |G|^2 + S/b on the average: from two sizes of batch, one rank's
    (or one micro-batch's) and the whole one, follow |G|^2 and S.
    """

    decay: float = 0.95
    squared: float = 0.0
    trace: float = 0.0
    steps: int = 0

    def feed(self, small_square: float, small: float, big_square: float, big: float) -> float | None:
        """`small_square`: mean of the squared norms of the parts, each over `small` examples; `big_square` of all.

        Returns the noise scale S/|G|^2; None where the parts are not smaller than the whole, or noise hides it.
        """
        if not 0 < small < big:
            return None
        squared = (big * big_square - small * small_square) / (big - small)
        trace = (small_square - big_square) / (1 / small - 1 / big)
        self.steps += 1
        weight = max(1 - self.decay, 1 / self.steps)
        self.squared += weight * (squared - self.squared)
        self.trace += weight * (trace - self.trace)
        return self.trace / self.squared if self.squared > 0 and self.trace >= 0 else None

    def state(self) -> dict[str, Any]:
        """For a checkpoint."""
        return {"squared": self.squared, "trace": self.trace, "steps": self.steps}

    def load(self, state: Mapping[str, Any]) -> None:
        """As `state` gave it."""
        self.squared, self.trace, self.steps = float(state["squared"]), float(state["trace"]), int(state["steps"])
