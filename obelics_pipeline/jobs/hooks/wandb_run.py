"""A run of Weights & Biases: its config, the counts of each stage as metrics, how it ended."""

from __future__ import annotations

from typing import Any

import wandb

STEP = "stage"  # the axis of all metrics
EXIT_CODES = {"done": 0, "failed": 1, "stopped": 255}  # 255: what wandb gives to a run that was interrupted


class WandbRun:
    """See `tracking.TrackedRun`."""

    def __init__(self, about: dict[str, Any]) -> None:
        """Open the run that `about` describes, or go on with it."""
        settings = about["settings"]
        self._run = wandb.init(
            project=settings["project"],
            mode=settings["mode"],
            id=about["run"],
            name=about["name"],
            resume="allow" if settings["mode"] == "online" else None,
            config={**about["params"], "output": about["output"]},
            settings=wandb.Settings(console="off", silent=True, x_disable_stats=True),
        )
        self._run.define_metric(STEP)
        self._run.define_metric("*", step_metric=STEP)

    def count(self, stage: int, counts: dict[str, int]) -> None:
        """Log the numbers of a stage, the stage as their step."""
        self._run.log({STEP: stage, **counts})

    def end(self, how: str) -> None:
        """End the run, once all is sent."""
        self._run.finish(exit_code=EXIT_CODES[how])
