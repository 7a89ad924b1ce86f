"""The gradients of documents one by one, on weights that a run had near a spike: which of them pulled hardest.

A loss says how strange a text is to a model, and a weak model finds much strange. The gradient says what the text would
have done to it: of numbers, escapes, shuffled words or one word over and over all targets pull the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from obelics_pipeline.core.errors import Stopped, UserError
from obelics_pipeline.training.diagnosis.robust import Numbers
from obelics_pipeline.training.diagnosis.sightings import Sightings
from obelics_pipeline.training.diagnosis.training_run import TrainingRun
from obelics_pipeline.training.train.state.kept import FOLDER, Kept, checkpoints
from obelics_pipeline.training.train.state.lineage import Part

FARTHER = 100  # steps that a checkpoint after a spike is worse by: the model has met what made it, or is ill of it
SMALL = 64 * 2**20  # bytes of a checkpoint up to which documents are replayed unasked: it takes seconds


def checkpoint_near(run: TrainingRun, attempt: int, step: int) -> Kept | None:
    """The checkpoint of an attempt before a step; where one after it, of the run as it is now, is far nearer, that.

    Old checkpoints are removed while a training goes on. Before the first step a model knows nothing.
    """
    before, after = run.lineage.parts(attempt, 1, step - 1), run.lineage.parts(run.lineage.last, step, run.last_step)
    kept = checkpoints(run.path / FOLDER)
    near = [(step - k.step, k) for k in kept if _in(k, before)] + [
        (FARTHER + k.step - step, k) for k in kept if _in(k, after)
    ]
    return min(near, default=(0, None))[1]


def _in(kept: Kept, parts: Sequence[Part]) -> bool:
    return any(kept.attempt == attempt and first <= kept.step <= last for attempt, first, last in parts)


def is_soon(kept: Kept) -> bool:
    """Whether replaying is a matter of seconds, and what it needs is installed."""
    size = sum(path.stat().st_size for path in kept.path.rglob("*") if path.is_file())
    return size <= SMALL and all(find_spec(name) is not None for name in ("torch", "transformers"))


def gradients(kept: Kept, plan: Path, seen: Sightings, at: Sequence[int]) -> Numbers:
    """The norm of the gradient of the mean loss of some sightings' documents, each by itself, as their rows have them.

    NaN where a row cannot be read. Raises UserError where the checkpoint, the model's parts or the plan are gone.
    """
    try:
        import torch
        from transformers.utils import logging
    except ImportError as error:
        raise UserError(f"--replay: no module {error.name}; pip install 'obelics-pipeline[train]'") from None
    from obelics_pipeline.training.plan.plan_file import open_plan
    from obelics_pipeline.training.train.collate import collate
    from obelics_pipeline.training.train.optimizer import gradient_norm
    from obelics_pipeline.training.train.processes import Processes
    from obelics_pipeline.training.train.saved_model import load_checkpoint
    from obelics_pipeline.training.train.state.saved import read_state
    from obelics_pipeline.training.train.step import Objective, backward
    from obelics_pipeline.training.train.stored_rows import RowReader

    logging.disable_progress_bar()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = load_checkpoint(kept.path).to(device)
    rows, alone = open_plan(plan), Processes(0, 1, device)
    weights = torch.ones(len(rows.datasets), device=device)
    objective = Objective(weights, z_weight=0.0, el2n=False, precision=read_state(kept.path).config["precision"])
    reader = RowReader(rows, model.vocabulary, model.vision.side)
    parameters = list(model.trainable().values())
    found = np.full(len(at), np.nan)
    for i, place in enumerate(at):
        try:
            row = reader.read(int(seen.row[place]))
        except Stopped:
            continue
        spans = tuple(span for span in row.spans if span.document == seen.document[place])
        tokens = sum(len(span.ids) for span in spans)
        batch = collate([replace(row, spans=spans)], tokens, model.vision.side, model.vocabulary.pad)
        model.zero_grad()
        backward(model, [batch], objective, alone, lambda: None)
        found[i] = float(gradient_norm(parameters))
    return found
