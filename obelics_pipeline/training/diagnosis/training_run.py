"""The folder of a training run as it is read here: metrics, ledger, lineage and losses per document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.training.diagnosis.sightings import Sightings, read_sightings
from obelics_pipeline.training.train.journal import METRICS, read_journal
from obelics_pipeline.training.train.state.entries import Entry
from obelics_pipeline.training.train.state.ledger import read_ledger
from obelics_pipeline.training.train.state.lineage import Lineage, Part

Line = Mapping[str, Any]


def loss_of(line: Line) -> float:
    """Of a step; NaN where it was no number."""
    return float("nan") if line.get("loss") is None else float(line["loss"])


class TrainingRun:
    """What `obelics train` has written so far; it may still run. Raises UserError if a folder has no training run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not (path / METRICS).is_file():
            raise UserError(f"{path}: not the folder of a training run (it has no metrics.jsonl); see: obelics train")

    @cached_property
    def metrics(self) -> dict[tuple[int, int], Line]:
        """The line of each step, by attempt and step, rising."""
        found = {(line["attempt"], line["step"]): line for line in read_journal(self.path / METRICS)}
        if not found:
            raise UserError(f"{self.path}: no step has been trained yet; metrics.jsonl has no whole line")
        return dict(sorted(found.items()))

    @cached_property
    def ledger(self) -> list[Line]:
        """Its entries in their order."""
        return [entry.model_dump(mode="json") for entry in self._entries]

    @cached_property
    def lineage(self) -> Lineage:
        """Which attempt has which steps."""
        return Lineage(self._entries)

    @cached_property
    def _entries(self) -> tuple[Entry, ...]:
        return read_ledger(self.path).entries

    @cached_property
    def plan(self) -> Path:
        """The folder of its plan. Raises UserError where it is gone."""
        path = self.path / "plan.txt"
        try:
            named = path.read_text(encoding="utf-8").split("\n")[0].strip()
        except OSError as error:
            raise UserError(f"{path}: cannot be read ({error.strerror}): it says which plan was trained on") from None
        for candidate in (named, named.rpartition(" ")[0].strip()):  # the path, or the path and the plan's id
            for folder in (Path(candidate), self.path / candidate, self.path.parent / candidate):
                if candidate and (folder / "plan.json").is_file():
                    return folder
        raise UserError(f"{path}: names the plan {named!r}, and no plan is there; move it back, or correct the file")

    def steps(self, attempt: int, first: int, last: int) -> list[Line]:
        """The metrics of some steps as an attempt has had them, in order; those that are missing are left out."""
        return [line for part in self.lineage.parts(attempt, first, last) for line in self._of(part)]

    def stitched(self) -> list[Line]:
        """The metrics of all steps that led to where the run is now."""
        return self.steps(self.lineage.last, 1, self.last_step)

    @property
    def last_step(self) -> int:
        """The highest step of any attempt."""
        return max(step for _, step in self.metrics)

    def attempts_with(self, step: int) -> list[int]:
        """The attempts that have trained a step themselves. Raises UserError where none has."""
        found = [attempt for attempt, at in self.metrics if at == step]
        if not found:
            steps = [at for _, at in self.metrics]
            raise UserError(f"step {step}: {self.path} has the steps {min(steps)} to {max(steps)}; give one of them")
        return found

    def sightings(self, attempt: int, first: int, last: int) -> Sightings:
        """Which documents some steps have seen, as an attempt has had them."""
        return read_sightings(self.path / "accounts", self.lineage.parts(attempt, first, last))

    def _of(self, part: Part) -> Iterator[Line]:
        attempt, first, last = part
        for (of, step), line in self.metrics.items():
            if of == attempt and first <= step <= last:
                yield line
