"""One step: the losses of its micro-batches and their gradient. The guard decides whether the update is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import torch
from torch import Tensor

from obelics_pipeline.models.packed_flamingo.model import PackedFlamingo, target_losses
from obelics_pipeline.training.train.collate import MicroBatch
from obelics_pipeline.training.train.processes import Processes
from obelics_pipeline.training.train.sums import StepSums, of_datasets, of_spans


@dataclass(frozen=True, eq=False)
class Objective:
    """What is minimised: (sum of weight times loss + z_weight times the sum of squares of log z) / targets.

    The sums run over the targets of all processes and micro-batches of a step, so that neither how many there are of
    them nor how they are dealt out changes it: no mean of means. `weights` has a factor for each data set.
    """

    weights: Tensor
    z_weight: float
    el2n: bool
    precision: str

    def computing(self, device: torch.device) -> AbstractContextManager[object]:
        """Where matrix products have the precision that was asked for."""
        if self.precision == "float32":
            return nullcontext()
        computing: AbstractContextManager[object] = torch.autocast(device.type, torch.bfloat16)
        return computing


def backward(
    model: PackedFlamingo,
    batches: Sequence[MicroBatch],
    objective: Objective,
    processes: Processes,
    between: Callable[[], None],
) -> StepSums:
    """Add the gradient of a step to the parameters; returns this process's sums, not yet those of all.

    `between` is called after the first of several micro-batches.
    """
    device = processes.device
    targets = max(1, processes.total_of_number(sum(int(batch.packed.target.sum()) for batch in batches)))
    n_datasets, words = len(objective.weights), model.vocabulary.words + len(model.vocabulary.added)
    spans, datasets, highest, predicted = [], [], [], []
    for number, batch in enumerate(batches):
        if number == 1:
            between()
        packed = batch.packed.to(device)
        with objective.computing(device):
            losses = target_losses(model, packed, with_el2n=objective.el2n)
        loss = (objective.weights[losses.dataset] * losses.nll).sum()
        loss = loss + objective.z_weight * losses.log_z.square().sum()
        (loss * (processes.world / targets)).backward()  # the processes' gradients are averaged
        spans.append(of_spans(losses, packed.n_spans))
        datasets.append(of_datasets(losses, packed, n_datasets))
        highest.append(losses.log_z.detach().amax() if len(losses.log_z) else torch.zeros((), device=device))
        # as bincount, which would make the host wait for a GPU
        counted = losses.top1.new_zeros(words)
        predicted.append(counted.index_add_(0, losses.top1, torch.ones_like(losses.top1)))
    return StepSums(
        torch.cat(spans), torch.stack(datasets).sum(0), torch.stack(highest).amax(), torch.stack(predicted).sum(0)
    )
