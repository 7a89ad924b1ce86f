"""Whether a run's loss is where a smaller run's says that it should be at least."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.training.diagnosis.training_run import TrainingRun

SMOOTH = 20  # steps that a loss is averaged over: one step's batch is noise


@dataclass(frozen=True)
class Expected:
    """The outcome of a comparison. `above` are steps whose loss is above the bound, of `compared`."""

    compared: int
    above: tuple[int, ...]
    last: float
    bound: float

    @property
    def fine(self) -> bool:
        """Whether the end is below the bound."""
        return self.compared > 0 and self.last <= self.bound


def expect(
    run: Sequence[Mapping[str, Any]], small: Sequence[Mapping[str, Any]], scale: float = 1.0, smooth: int = SMOOTH
) -> Expected:
    """Compare losses at equal tokens seen: a larger model's must lie below `scale` times that of a smaller one.

    Lines of metrics in order of steps. Where the smaller run has seen fewer tokens, its last loss goes on: a loss that
    more data does not lower is a sign too. The first `smooth` steps are not compared.
    """
    tokens, losses = _smoothed(run, smooth)
    of_small, bounds = _smoothed(small, smooth)
    if not len(tokens) or not len(of_small):
        return Expected(0, (), float("nan"), float("nan"))
    steps = np.array([line["step"] for line in run])[len(run) - len(tokens) :]
    there = tokens >= of_small[0]
    bound = scale * np.interp(tokens, of_small, bounds)
    above = tuple(int(s) for s in steps[there & (losses > bound)])
    return Expected(int(there.sum()), above, float(losses[-1]), float(bound[-1]))


def _smoothed(lines: Sequence[Mapping[str, Any]], smooth: int) -> tuple[Any, Any]:
    """Tokens seen and loss, each the mean of `smooth` steps: so that steps of other sizes can be compared."""
    kept = [(float(x["tokens"]), float("nan") if x.get("loss") is None else float(x["loss"])) for x in lines]
    if len(kept) < smooth:
        return np.array([]), np.array([])
    window = np.ones(smooth) / smooth
    tokens, losses = np.cumsum([t for t, _ in kept]), np.array([loss for _, loss in kept])
    return np.convolve(tokens, window, "valid"), np.convolve(losses, window, "valid")


def expect_run(run: Path, small: Path, scale: float) -> tuple[bool, str]:
    """Whether the loss of a run is as low as expected, and a line that says so. Raises UserError for a folder that is
    not a run.
    """
    if scale <= 0:
        raise UserError(f"--scale must be above 0, got {scale}")
    found = expect(TrainingRun(run).stitched(), TrainingRun(small).stitched(), scale)
    if not found.compared:
        raise UserError(f"{run}: too few steps to compare, here or in {small}: give each {SMOOTH} or more")
    said = f"loss {found.last:.4f}, at most {found.bound:.4f} is expected of a larger model than that of {small}"
    if found.fine:
        return True, f"{run}: fine: {said}"
    above = f"above the bound at {len(found.above)} of {found.compared} steps, first at step {found.above[0]}"
    return False, f"{run}: ALARM: {said}; {above}"
