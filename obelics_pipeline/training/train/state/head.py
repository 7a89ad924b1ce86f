"""Where a run is: its last attempt, step and cursor, told from its ledger and the end of its metrics."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.training.train.journal import METRICS, newest_first
from obelics_pipeline.training.train.state.entries import Beginning, Entry, Rollback
from obelics_pipeline.training.train.state.kept import FOLDER, checkpoints
from obelics_pipeline.training.train.state.saved import read_state


@dataclass(frozen=True)
class Head:
    """How far a run has come: the next step is `step` + 1, and begins at `cursor` or after rows left out."""

    attempt: int
    step: int
    cursor: int
    metrics: dict[str, Any] | None  # the line of that step, where the attempt has made one


def head_of(run: Path, entries: tuple[Entry, ...]) -> Head:
    """Where a run is. Raises `UserError` for a ledger without an attempt: nothing has begun."""
    beginnings = [entry for entry in entries if isinstance(entry, Beginning)]
    if not beginnings:
        raise UserError(f"{run}: its ledger has no attempt yet; start it: obelics train")
    last = max(beginnings, key=lambda entry: entry.attempt)
    line = next(newest_first(run / METRICS), None)
    if line is not None and line.get("attempt") == last.attempt:
        return Head(last.attempt, int(line["step"]), int(line["cursor"]) + int(line["rows"]), line)
    if isinstance(last, Rollback):
        return Head(last.attempt, last.to_step, last.cursor, None)
    cursors = [_cursor(kept.path) for kept in checkpoints(run / FOLDER) if kept.step == last.from_step]
    return Head(last.attempt, last.from_step, cursors[-1] if cursors else 0, None)


def recorded(path: Path, attempt: int, step: int) -> dict[str, Any] | None:
    """The line of metrics.jsonl that a step of an attempt wrote; looked for from the end, as it is the last but few."""
    for line in newest_first(path):
        if line["attempt"] < attempt:
            return None
        if (line["attempt"], line["step"]) == (attempt, step):
            return line
    return None


def _cursor(checkpoint: Path) -> int:
    return read_state(checkpoint).cursor
