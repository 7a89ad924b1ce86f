"""Experiments as tests want them, and outcomes that were never trained."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from obelics_pipeline.training.experiments.ablate.experiment import Experiment
from obelics_pipeline.training.experiments.ablate.outcome import LOSS, Outcome
from tests.stages.shard.runs import make_run
from tests.training.train.trainable import page

TRAINING: dict[str, Any] = {
    "model": {
        "language_model": "lm", "vision": "vision", "latents": 4, "resampler_depth": 1, "heads": 2, "head_dim": 16,
        "unfreeze": ["language_model.*"],
    },
    "micro_rows": 2, "precision": "float32", "device": "cpu", "threads": 1,
    "schedule": {"peak": 3e-3, "warmup_steps": 0, "shape": "constant"}, "loader": {"workers": 0},
    "checkpoint": {"every_steps": 5}, "evaluation": {"rows": 0},
}  # fmt: skip


def values_of(web: str = "web", wiki: str = "wiki", **more: Any) -> dict[str, Any]:
    """An experiment of two arms on two data sets."""
    return {
        "name": "test",
        "training": TRAINING,
        "recipe": {
            "datasets": {"web": {"runs": [web], "repeat": 50}, "wiki": {"runs": [wiki], "repeat": 50}},
            "language_model": "lm", "sequence_tokens": 96, "images_per_row": 4, "batch_tokens": 192, "held_out": 0.2,
            "allow_equal_content": True,
        },
        "tokens": 1600,
        "seeds": [0, 1],
        "arms": {"all": {}, "long": {"recipe": {"datasets.web.keep": {"n_texts": {"min": 3}}}}},
        "parts": {"words": 320, "width": 32, "layers": 2, "side": 16},
    } | more  # fmt: skip


def experiment(**more: Any) -> Experiment:
    """The same, checked."""
    return Experiment.model_validate(values_of(**more))


def make_runs(folder: Path, documents: int = 40) -> tuple[str, str]:
    """Two runs of small pages."""
    make_run(folder / "web", [page(n) for n in range(documents) if n % 4])
    make_run(folder / "wiki", [page(n) for n in range(documents) if n % 4 == 0])
    return str(folder / "web"), str(folder / "wiki")


def outcome(arm: str, seed: int, loss: float, **more: Any) -> Outcome:
    """Of a training of two steps whose held-out loss was this."""
    exact = [{"loss": 3.0, "grad_norm": 1.0}, {"loss": 2.0, "grad_norm": 0.5}]
    values: dict[str, Any] = {
        "figures": {LOSS: loss, "image gain": 0.1, "tokens trained": 300_000.0, "parameters": 480_000.0},
        "actions": {"alarm": 1}, "restarts": 0, "steps": 2, "passes": {"web": 1.5}, "documents": {"web": 7},
        "tokens": [50, 100], "images": [1, 2], "loss": [3.0, 2.0], "grad_norm": [1.0, None], "exact": exact,
    } | more  # fmt: skip
    return Outcome(arm=arm, seed=seed, **values)
