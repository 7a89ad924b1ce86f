"""The folder of a training: where its files lie."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from obelics_pipeline.training.train.journal import EVALUATIONS, METRICS
from obelics_pipeline.training.train.state.ledger import NAME as LEDGER


@dataclass(frozen=True, slots=True)
class TrainingFolder:
    """See docs/trainer.md for what each holds."""

    path: Path

    @property
    def config(self) -> Path:
        """As resolved."""
        return self.path / "config.yaml"

    @property
    def plan(self) -> Path:
        """One line: the plan's folder, and its id."""
        return self.path / "plan.txt"

    @property
    def metrics(self) -> Path:
        """One line a step."""
        return self.path / METRICS

    @property
    def evaluations(self) -> Path:
        """One line a checkpoint."""
        return self.path / EVALUATIONS

    @property
    def ledger(self) -> Path:
        """What was done, and why."""
        return self.path / LEDGER

    @property
    def checkpoints(self) -> Path:
        """A folder for each."""
        return self.path / "checkpoints"

    @property
    def model(self) -> Path:
        """The trained model, once the training is done."""
        return self.path / "model"
