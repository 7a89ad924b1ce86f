"""The outcome of one training: figures by name, from its journal, its ledger, and its measured model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import median
from typing import Any

from obelics_pipeline.training.diagnosis.training_run import Line, TrainingRun
from obelics_pipeline.training.experiments.ablate.experiment import Spikes
from obelics_pipeline.training.experiments.ablate.spikes import spikes_of

ACTIONS = ("alarm", "skip_update", "wait", "rollback", "skip_rows", "lr", "hardware", "plateau", "no_progress")
CURVE = ("loss", "grad_norm", "log_z", "lr", "cursor", "rows", "targets")  # what a restart must not change

LOSS = "held-out loss"
UNITS = {
    LOSS: "nats a token",
    "image gain": "nats a token",
    "gain over no image": "nats a token",
    "loss spikes": "share of steps",
    "gradient spikes": "share of steps",
    "highest gradient norm": "",
    "median gradient norm": "",
    "loss at the end": "nats a token",
    "updates left out": "steps",
    "tokens trained": "tokens",
    "images trained": "images",
    "tokens per second": "",
    "parameters": "",
}
SETTING = ("parameters", "tokens trained", "images trained", "tokens per second")  # put in: nothing is claimed of them


@dataclass(frozen=True)
class Outcome:
    """Of one arm and seed. By step: `tokens` and `images` seen so far, loss and gradient norm."""

    arm: str
    seed: int
    figures: Mapping[str, float]
    actions: Mapping[str, int]
    restarts: int
    steps: int
    passes: Mapping[str, float]
    documents: Mapping[str, int]
    tokens: Sequence[int]
    images: Sequence[int]
    loss: Sequence[float | None]
    grad_norm: Sequence[float | None]
    exact: Sequence[Mapping[str, Any]]


def outcome_of(
    arm: str, seed: int, run: TrainingRun, held_out: Mapping[str, Any], plan: Mapping[str, Any], rule: Spikes
) -> Outcome:
    """`held_out`: what `held_out.measure` found; `plan`: what plan.json says.

    Spikes and gradient norms are of every step that was made, also of those that were rolled back; the rest is of the
    steps that led to the model.
    """
    made, final = list(run.metrics.values()), run.stitched()
    losses, norms = ([line.get(name) for line in made] for name in ("loss", "grad_norm"))
    there = [norm for norm in norms if norm is not None]
    figures = {
        LOSS: held_out["loss"],
        "image gain": held_out["image_gain"],
        "gain over no image": held_out["no_images"] - held_out["loss"],
        **{f"{LOSS}, {name}": views["loss"] for name, views in _several(held_out["datasets"])},
        **{f"image gain, {name}": views["image_gain"] for name, views in _several(held_out["datasets"])},
        "loss spikes": len(spikes_of(losses, rule)) / len(made),
        "gradient spikes": len(spikes_of(norms, rule)) / len(made),
        "highest gradient norm": max(there, default=float("nan")),
        "median gradient norm": median(there) if there else float("nan"),
        "loss at the end": _end(final),
        "updates left out": sum(not line["applied"] for line in made),
        "tokens trained": sum(line["tokens"] for line in final),
        "images trained": sum(line["images"] for line in final),
        "tokens per second": median(line["tokens_per_second"] for line in made),
        "parameters": held_out["parameters"],
    }
    kinds = Counter(str(entry["kind"]) for entry in run.ledger)
    return Outcome(
        arm=arm,
        seed=seed,
        figures={name: float(value) for name, value in figures.items()},
        actions={kind: kinds[kind] for kind in ACTIONS if kinds[kind]},
        restarts=kinds["resume"],
        steps=len(final),
        passes={dataset["name"]: float(dataset["epochs"]) for dataset in plan["datasets"]},
        documents={dataset["name"]: int(dataset["documents"]) for dataset in plan["datasets"]},
        tokens=list(accumulate(int(line["tokens"]) for line in final)),
        images=list(accumulate(int(line["images"]) for line in final)),
        loss=[line.get("loss") for line in final],
        grad_norm=[line.get("grad_norm") for line in final],
        exact=[{name: line.get(name) for name in CURVE} for line in final],
    )


def same_curve(left: Outcome, right: Outcome) -> int | None:
    """The first step at which two trainings differ in any bit of their figures; None: in none."""
    for step, (one, other) in enumerate(zip(left.exact, right.exact, strict=False), start=1):
        if one != other:
            return step
    shorter = min(len(left.exact), len(right.exact))
    return None if len(left.exact) == len(right.exact) else shorter + 1


def unit_of(name: str) -> str:
    """The unit of a figure."""
    return UNITS.get(name.partition(",")[0], "")


def _several(datasets: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    """By data set, where there are several; of one, the whole says it."""
    return datasets.items() if len(datasets) > 1 else ()


def _end(lines: Sequence[Line]) -> float:
    """The mean training loss of the last tenth: one step alone is noise."""
    last = [line["loss"] for line in lines[-max(1, len(lines) // 10) :] if line.get("loss") is not None]
    return sum(last) / len(last) if last else float("nan")
