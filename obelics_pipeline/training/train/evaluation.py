"""The loss of held-out documents: as they are, with other documents' images, and without images."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import torch

from obelics_pipeline.models.packed_flamingo.batch import PackedBatch
from obelics_pipeline.models.packed_flamingo.model import PackedFlamingo, target_losses
from obelics_pipeline.training.train.collate import MicroBatch
from obelics_pipeline.training.train.processes import Processes
from obelics_pipeline.training.train.step import Objective

VIEWS = ("loss", "other_images", "no_images")


def evaluate(
    model: PackedFlamingo,
    batches: Iterable[MicroBatch],
    datasets: tuple[str, ...],
    objective: Objective,
    processes: Processes,
) -> dict[str, dict[str, float]]:
    """Nats per target by data set and view, targets, and the image gain: `other_images` minus `loss`.

    The loss of pairs falls also in a model that ignores images, because it learns how captions are written; the image
    gain does not (IDEFICS, memo). Data sets without held-out targets are left out.
    """
    sums = torch.zeros((len(datasets), 1 + len(VIEWS)), dtype=torch.float64, device=processes.device)
    with torch.no_grad(), objective.computing(processes.device):
        for batch in batches:
            packed = batch.packed.to(processes.device)
            for column, view in enumerate((packed, _others(packed), _none(packed)), start=1):
                losses = target_losses(model, view, with_el2n=False)
                sums[:, column].index_add_(0, losses.dataset, losses.nll.double())
            sums[:, 0].index_add_(0, losses.dataset, torch.ones_like(losses.nll, dtype=torch.float64))
    processes.total(sums)
    found: dict[str, dict[str, float]] = {}
    for name, (count, *totals) in zip(datasets, sums.tolist(), strict=True):
        if count:
            means = {view: total / count for view, total in zip(VIEWS, totals, strict=True)}
            found[name] = means | {"image_gain": means["other_images"] - means["loss"], "targets": count}
    return found


def _others(batch: PackedBatch) -> PackedBatch:
    """Every image in the place of the next one of the batch."""
    return replace(batch, pictures=batch.pictures.roll(1, 0))


def _none(batch: PackedBatch) -> PackedBatch:
    """No token sees an image: both branches of each cross-attention layer give nothing."""
    return replace(batch, image_of=torch.full_like(batch.image_of, -1))
