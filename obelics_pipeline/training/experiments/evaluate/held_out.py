"""A model measured on the held-out rows of a plan, as a training measures it at its checkpoints."""

from __future__ import annotations

import torch

from obelics_pipeline.models.packed_flamingo.model import PackedFlamingo
from obelics_pipeline.training.plan.plan_file import Plan
from obelics_pipeline.training.train.config import LoaderConfig
from obelics_pipeline.training.train.evaluation import evaluate
from obelics_pipeline.training.train.feed import Feed
from obelics_pipeline.training.train.processes import Processes
from obelics_pipeline.training.train.step import Objective
from obelics_pipeline.training.train.stored_rows import RowReader

MICRO_ROWS = 4


def held_out(model: PackedFlamingo, plan: Plan, rows: int, precision: str) -> dict[str, dict[str, float]]:
    """Losses and image gain by data set, of `rows` rows at most; none where the plan holds nothing out."""
    if plan.held_out is None:
        return {}
    processes = Processes(0, 1, next(model.parameters()).device)
    objective = Objective(torch.ones(len(plan.datasets), device=processes.device), 0.0, False, precision)
    reader = RowReader(plan, model.vocabulary, model.vision.side)
    feed = Feed(plan, reader, processes, MICRO_ROWS, LoaderConfig(workers=0, ahead=1))
    batches = feed.held_out(plan.held_out, min(rows, plan.held_out.n_rows))
    return evaluate(model, batches, plan.datasets, objective, processes)
