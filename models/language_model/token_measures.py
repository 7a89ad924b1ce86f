"""What a model says of each scored token of many windows: rows of several, halved where memory is short."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from obelics_pipeline.models.device.memory import in_halves
from obelics_pipeline.models.language_model.head import measures
from obelics_pipeline.models.language_model.model import Images, LanguageModel, hidden
from obelics_pipeline.models.language_model.packing import rows
from obelics_pipeline.models.language_model.statistics import Measured
from obelics_pipeline.models.language_model.windows import Window


def token_measures(
    model: LanguageModel,
    windows: Sequence[Window],
    images: Images,
    most: int,
    second: LanguageModel | None = None,
) -> list[Measured]:
    """`statistics.PARTS` of the scored tokens of each window, in order.

    A row has at most `most` tokens, or one window; one that does not fit the device's memory is halved. `second` is the
    second model of Binoculars, which reads no images: windows for it have none.
    """
    import torch

    found: list[Any] = [None] * len(windows)
    together = model.packs and (second is None or second.packs)
    with torch.inference_mode():
        for row in rows([len(window.ids) for window in windows], most if together else 0):
            of_row = in_halves(lambda part: _measured(model, [windows[i] for i in part], images, second), row)
            for i, measured in zip(row, of_row, strict=True):
                found[i] = measured
        # one copy for all: each would make the host wait for the device
        flat = torch.cat(found).cpu().numpy() if found else np.empty((0, 5), np.float32)
    counts = [int(window.scored.sum()) for window in windows]
    return np.split(flat, np.cumsum(counts)[:-1]) if windows else []


def _measured(
    model: LanguageModel, row: Sequence[Window], images: Images, second: LanguageModel | None
) -> Sequence[Any]:
    """Of each window of a row, on the device."""
    import torch

    targets = torch.from_numpy(np.concatenate([window.ids[window.scored] for window in row])).to(model.device)
    vectors = hidden(model, row, images)
    if second is None:
        found = measures(model.head, vectors, targets)
    else:
        found = measures(model.head, vectors, targets, second.head, hidden(second, row))
    return list(found.split([int(window.scored.sum()) for window in row]))
