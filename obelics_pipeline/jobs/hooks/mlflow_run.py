"""A run of MLflow: parameters, the counts of each stage as metrics, how it ended."""

from __future__ import annotations

import time
from typing import Any

from mlflow import MlflowClient
from mlflow.entities import Metric, Param

ID = "obelics.run"  # the tag by which a run that goes on is found
ENDS = {"done": "FINISHED", "failed": "FAILED", "stopped": "KILLED"}
MOST_PARAMS = 100  # in one request: MLflow's limit
MOST_CHARACTERS = 6000  # of the value of a parameter: MLflow's limit


class MlflowRun:
    """See `tracking.TrackedRun`."""

    def __init__(self, about: dict[str, Any]) -> None:
        """Open the run that `about` describes, or go on with it."""
        self._client = client = MlflowClient(about["settings"]["tracking_uri"])
        name = about["settings"]["experiment"]
        known = client.get_experiment_by_name(name)
        experiment = client.create_experiment(name) if known is None else known.experiment_id
        earlier = client.search_runs([experiment], f"tags.`{ID}` = '{about['run']}'", max_results=1)
        if earlier:
            self._run = earlier[0].info.run_id
            client.update_run(self._run, status="RUNNING")
        else:
            tags = {ID: about["run"], "output": about["output"]}
            self._run = client.create_run(experiment, tags=tags, run_name=about["name"]).info.run_id
        params = [Param(key, value[:MOST_CHARACTERS]) for key, value in about["params"].items()]
        for first in range(0, len(params), MOST_PARAMS):
            client.log_batch(self._run, params=params[first : first + MOST_PARAMS])

    def count(self, stage: int, counts: dict[str, int]) -> None:
        """Log the numbers of a stage as metrics, the stage as their step."""
        now = int(time.time() * 1000)
        self._client.log_batch(self._run, [Metric(name, count, now, stage) for name, count in counts.items()])

    def end(self, how: str) -> None:
        """Set the status of the run."""
        self._client.set_terminated(self._run, ENDS[how])
