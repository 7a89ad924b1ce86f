"""What is evaluated: the finished checkpoints of a training, which may be at work, or a model that was saved."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.packed_flamingo.model import PackedFlamingo
from obelics_pipeline.models.packed_flamingo.saved import DESCRIPTION, load
from obelics_pipeline.training.train.saved_model import load_checkpoint
from obelics_pipeline.training.train.state.kept import FOLDER, checkpoints
from obelics_pipeline.training.train.state.saved import read_state


@dataclass(frozen=True)
class EvaluatedModel:
    """A model that can be loaded. `step`: None for a model that is not a checkpoint."""

    name: str
    path: Path
    step: int | None

    def load(self) -> PackedFlamingo:
        """The model. Raises UserError for files that are damaged, stray or gone."""
        return load(self.path) if self.step is None else load_checkpoint(self.path)

    def versions(self) -> dict[str, str]:
        """The versions of the packages that the model was made with; empty if they are not recorded."""
        return {} if self.step is None else read_state(self.path).versions


def sources(location: Path) -> list[EvaluatedModel]:
    """The checkpoints or the model that can be evaluated now, the oldest first. A checkpoint counts once its manifest
    exists, which is written last. Raises UserError for a folder that is neither a training nor a model.

    Raises UserError for a folder that is neither a training nor a model.
    """
    if (location / DESCRIPTION).is_file():
        return [EvaluatedModel("model", location, None)]
    if not (location / FOLDER).is_dir():
        raise UserError(f"{location}: neither a training (it has no {FOLDER}) nor a model (no {DESCRIPTION})")
    return [
        EvaluatedModel(kept.path.name, kept.path, kept.step) for kept in checkpoints(location / FOLDER) if kept.step
    ]
