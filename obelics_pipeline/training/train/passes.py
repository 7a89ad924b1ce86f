"""How often a training has gone over each data set: OPT-175B saw half of its tokens twice, and nobody had noticed."""

from __future__ import annotations

import numpy as np

from obelics_pipeline.training.plan.plan_file import Plan


class Passes:
    """Passes over the documents of a plan, by position in the order of rows."""

    def __init__(self, plan: Plan) -> None:
        dataset = plan.datasets_of_rows()
        self._rows = {name: np.flatnonzero(dataset == i) for i, name in enumerate(plan.datasets)}
        self._passes = {about["name"]: float(about["epochs"]) for about in plan.about["datasets"]}

    def at(self, cursor: int) -> dict[str, float]:
        """Passes over the documents of each data set once all rows before this one are read."""
        return {
            name: self._passes[name] * float(np.searchsorted(rows, cursor)) / len(rows)
            for name, rows in self._rows.items()
            if len(rows)
        }
