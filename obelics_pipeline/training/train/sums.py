"""What a step adds up over its targets: by document for the loss files, by data set for the metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from obelics_pipeline.models.packed_flamingo.batch import PackedBatch
from obelics_pipeline.models.packed_flamingo.model import Losses
from obelics_pipeline.training.train.collate import MicroBatch

SPAN_COLUMNS = ("n_targets", "loss_sum", "el2n_sum", "log_z_sum")
DATASET_COLUMNS = ("targets", "loss", "log_z", "z_loss", "images", "tokens")


@dataclass(frozen=True, eq=False)
class StepSums:
    """Of one process. `spans` (n, 4) in the order of `SPAN_COLUMNS`; `datasets` (data sets, 6) of `DATASET_COLUMNS`.

    Losses and log z in nats, summed over targets; z_loss is the sum of the squares of log z.
    """

    spans: Tensor
    datasets: Tensor
    log_z_max: Tensor
    predicted: Tensor  # (words): how often each token was the most likely one


def of_spans(losses: Losses, n_spans: int) -> Tensor:
    """(n_spans, 4) float32 on the device, without gradient."""
    values = torch.stack([torch.ones_like(losses.nll), losses.nll, losses.el2n, losses.log_z], 1).detach()
    found = torch.zeros((n_spans, len(SPAN_COLUMNS)), dtype=torch.float32, device=values.device)
    return found.index_add_(0, losses.span, values)


def of_datasets(losses: Losses, packed: PackedBatch, n_datasets: int) -> Tensor:
    """(n_datasets, 6) float64 on the device, without gradient."""
    nll, log_z = losses.nll.detach().double(), losses.log_z.detach().double()
    found = torch.zeros((n_datasets, len(DATASET_COLUMNS)), dtype=torch.float64, device=nll.device)
    values = torch.stack([torch.ones_like(nll), nll, log_z, log_z.square()], 1)
    found[:, :4].index_add_(0, losses.dataset, values)
    of_row = packed.dataset.long()
    found[:, 4].index_add_(0, of_row, (packed.picture_of >= 0).sum(1).double())
    found[:, 5].index_add_(0, of_row, (packed.segment >= 0).sum(1).double())
    return found


def loss_rows(batches: Sequence[MicroBatch], spans: Tensor) -> dict[str, npt.NDArray[np.generic]]:
    """The columns of the losses per document of one step, span after span."""
    sums = spans.cpu().numpy()
    plain = {
        "row": [row for batch in batches for row in batch.row_of_span],
        "span": [span for batch in batches for span in batch.spans],
        "document": [document for batch in batches for document in batch.documents],
        "repeat": [repeat for batch in batches for repeat in batch.repeats],
    }
    columns: dict[str, npt.NDArray[np.generic]] = {name: np.array(v, np.int64) for name, v in plain.items()}
    return columns | {name: sums[:, i] for i, name in enumerate(SPAN_COLUMNS)}
