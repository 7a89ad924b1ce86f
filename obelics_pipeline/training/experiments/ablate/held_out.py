"""A trained model measured on documents that no arm has seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from obelics_pipeline.models.packed_flamingo.saved import load
from obelics_pipeline.training.experiments.evaluate.held_out import held_out
from obelics_pipeline.training.plan.plan_file import Plan
from obelics_pipeline.training.train.config import TrainConfig
from obelics_pipeline.training.train.health.preflight import cores


def measure(folder: Path, plan: Plan, rows: int, config: TrainConfig) -> dict[str, Any]:
    """Losses and image gain of a model, by data set and over all, on the held-out rows of a plan; and its size.

    `rows`: at most so many, 0: all. `config`: of its training, whose device, precision and threads are used. Raises
    UserError.
    """
    assert plan.held_out is not None  # plans.refuse_seen
    device = config.device if config.device != "auto" else "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(config.threads or cores())
    model = load(folder).to(device).eval()
    found = held_out(model, plan, rows or plan.held_out.n_rows, config.precision)
    targets = sum(views["targets"] for views in found.values())
    over_all = {
        name: sum(views[name] * views["targets"] for views in found.values()) / max(targets, 1)
        for name in ("loss", "image_gain", "no_images")
    }
    return over_all | {
        "datasets": found,
        "targets": targets,
        "parameters": sum(p.numel() for p in model.parameters()),
        "trainable": sum(p.numel() for p in model.trainable().values()),
    }
