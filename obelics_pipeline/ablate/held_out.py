"""A trained model measured on documents that no arm has seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from models.packed_flamingo.saved import load
from obelics_pipeline.errors import UserError
from obelics_pipeline.plan.plan_file import Plan
from obelics_pipeline.train.config import TrainConfig
from obelics_pipeline.train.evaluation import evaluate
from obelics_pipeline.train.feed import Feed
from obelics_pipeline.train.health.preflight import cores
from obelics_pipeline.train.processes import Processes
from obelics_pipeline.train.step import Objective
from obelics_pipeline.train.stored_rows import RowReader


def measure(folder: Path, plan: Plan, rows: int, config: TrainConfig) -> dict[str, Any]:
    """Loss and image gain of a model, by data set and over all, on the held-out rows of a plan; and its parameters.

    `rows`: at most so many, 0: all. `config`: of its training, whose device, precision and threads are used. Raises
    UserError.
    """
    held_out = plan.held_out
    if held_out is None:
        raise UserError(f"{plan.path}: holds no document out; raise held_out of the recipe")
    kind = config.device if config.device != "auto" else "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(config.threads or cores())
    processes = Processes(0, 1, torch.device(kind))
    model = load(folder).to(processes.device).eval()
    weights = torch.ones(len(plan.datasets), device=processes.device)
    objective = Objective(weights, 0.0, False, config.precision)
    reader = RowReader(plan, model.vocabulary, model.vision.side)
    feed = Feed(plan, reader, processes, config.micro_rows, config.loader.model_copy(update={"workers": 0}))
    count = min(rows or held_out.n_rows, held_out.n_rows)
    found = evaluate(model, feed.held_out(held_out, count), plan.datasets, objective, processes)
    targets = sum(views["targets"] for views in found.values())
    over_all = {
        name: sum(views[name] * views["targets"] for views in found.values()) / max(targets, 1)
        for name in ("loss", "image_gain")
    }
    return {
        **over_all,
        "datasets": found,
        "rows": count,
        "targets": targets,
        "parameters": sum(p.numel() for p in model.parameters()),
        "trainable": sum(p.numel() for p in model.trainable().values()),
    }
