"""The process that talks to an experiment tracker, or to a collector of metrics.

It gets a JSON object a line on its stdin, and answers each by a line on its stdout. The first line says which run is
meant: `kind` (mlflow, wandb or metrics), the settings of the config, `run` (its id), `name`, `params` and `output`. An
answer is empty, or says what went wrong.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any, BinaryIO, Protocol


class TrackedRun(Protocol):
    """A run in a tracker, opened or gone on with."""

    def count(self, *_: Any, **numbers: Any) -> None:
        """Note numbers, as the messages for this kind of tracker have them: see `StageCounts` and `Measures`."""

    def end(self, how: str) -> None:
        """Note that the run is done, failed or stopped."""


def opened(about: dict[str, Any]) -> TrackedRun:
    """The run that a first line is about."""
    if about["kind"] == "mlflow":
        from obelics_pipeline.jobs.hooks.mlflow_run import MlflowRun

        return MlflowRun(about)
    if about["kind"] == "metrics":
        from obelics_pipeline.jobs.hooks.metrics_run import MetricsRun

        return MetricsRun(about)
    from obelics_pipeline.jobs.hooks.wandb_run import WandbRun

    return WandbRun(about)


def serve(lines: BinaryIO, answers: BinaryIO) -> None:
    """Answer each line, until there are no more."""
    run: TrackedRun | None = None
    for line in lines:
        answer = ""
        try:
            message = json.loads(line)
            if run is None:
                run = opened(message)
            elif message["says"] == "counts":
                run.count(**{name: value for name, value in message.items() if name != "says"})
            elif message["says"] == "ended":
                run.end(message["how"])
        except Exception as error:
            answer = f"{type(error).__name__}: {error}"
        answers.write(" ".join(answer.split())[:200].encode("utf-8", "replace") + b"\n")
        answers.flush()


if __name__ == "__main__":
    with open(os.dup(sys.stdout.fileno()), "wb") as _answers:  # what packages print must not be among the answers
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        serve(sys.stdin.buffer, _answers)
