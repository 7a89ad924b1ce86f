"""The figures of a step, the same on all processes: a line of metrics.jsonl, and what the guard is shown."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from obelics_pipeline.training.train.collate import MicroBatch
from obelics_pipeline.training.train.processes import Processes
from obelics_pipeline.training.train.sums import DATASET_COLUMNS, StepSums

SHORT = 16  # targets: the mean loss of a shorter span says little


def figures_of(
    sums: StepSums, batches: Sequence[MicroBatch], datasets: Sequence[str], processes: Processes
) -> dict[str, Any]:
    """Sums of all processes as means: loss, log_z, z_loss in nats per target, and the same by data set.

    `worst` is the highest mean loss of one document's span of `SHORT` targets or more; `top1_share` the share of places
    at which the token is predicted that is predicted most often. A data set without targets in the step is left out.
    `first_targets` are those of the processes' first micro-batches.
    """
    failed = sum(batch.images_failed for batch in batches)
    first = int(batches[0].packed.target.sum())
    added = torch.cat([sums.datasets.flatten(), sums.datasets.new_tensor([failed, first])])
    totals, others = np.split(processes.total(added).cpu().numpy(), [-2])
    by_dataset = totals.reshape(len(datasets), len(DATASET_COLUMNS))
    highest = torch.cat([sums.log_z_max.double()[None], _worst(sums, batches, len(datasets))])
    log_z_max, *worst = processes.largest(highest).tolist()
    predicted = processes.total(sums.predicted)
    whole = dict(zip(DATASET_COLUMNS, by_dataset.sum(0).tolist(), strict=True))
    return {
        **_means(whole),
        "log_z_max": log_z_max,
        "top1_share": int(predicted.max()) / max(1, int(predicted.sum())),
        "tokens": int(whole["tokens"]),
        "targets": int(whole["targets"]),
        "images": int(whole["images"]),
        "images_failed": int(others[0]),
        "first_targets": int(others[1]),
        "image_to_text": whole["images"] / max(1.0, whole["targets"]),
        "datasets": {
            name: _of_dataset(dict(zip(DATASET_COLUMNS, row, strict=True)), worst[i])
            for i, (name, row) in enumerate(zip(datasets, by_dataset.tolist(), strict=True))
            if row[0]
        },
    }


def _means(sums: Mapping[str, float]) -> dict[str, float]:
    targets = max(1.0, sums["targets"])
    return {name: sums[name] / targets for name in ("loss", "log_z", "z_loss")}


def _of_dataset(sums: Mapping[str, float], worst: float) -> dict[str, float]:
    counts = {name: int(sums[name]) for name in ("targets", "tokens", "images")}
    return _means(sums) | counts | ({"worst": worst} if math.isfinite(worst) else {})


def _worst(sums: StepSums, batches: Sequence[MicroBatch], n_datasets: int) -> Any:
    """Of this process, by data set; minus infinity where no span is long enough. float64 on the device."""
    counts, losses = sums.spans[:, 0], sums.spans[:, 1].double()
    of_span = [int(d) for batch in batches for d in _datasets_of_spans(batch)]
    where = torch.tensor(of_span, device=counts.device, dtype=torch.long)
    means = torch.where(counts >= SHORT, losses / counts.clamp(min=1), -math.inf)
    found = torch.full((n_datasets,), -math.inf, dtype=torch.float64, device=counts.device)
    return found.scatter_reduce_(0, where, means, "amax")


def _datasets_of_spans(batch: MicroBatch) -> Sequence[int]:
    of_row = dict(zip(batch.rows, batch.datasets, strict=True))
    return [of_row[row] for row in batch.row_of_span]


def as_json(value: Any) -> Any:
    """Numbers that JSON does not have become null: a line of metrics must be readable when the loss is not a number."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: as_json(inner) for key, inner in value.items()}
    return value
