"""Where a run is: its last attempt, step and cursor, told from its ledger and the end of its metrics."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from obelics_pipeline.errors import UserError
from obelics_pipeline.train.state.entries import Beginning, Entry, Rollback
from obelics_pipeline.train.state.kept import FOLDER, METRICS, checkpoints
from obelics_pipeline.train.state.saved import read_state

_TAIL_BYTES = 1 << 20  # of metrics.jsonl: many times its longest line


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
    line = _last_line(run / METRICS)
    if line is not None and line.get("attempt") == last.attempt:
        return Head(last.attempt, int(line["step"]), int(line["cursor"]) + int(line["rows"]), line)
    if isinstance(last, Rollback):
        return Head(last.attempt, last.to_step, last.cursor, None)
    cursors = [_cursor(kept.path) for kept in checkpoints(run / FOLDER) if kept.step == last.from_step]
    return Head(last.attempt, last.from_step, cursors[-1] if cursors else 0, None)


def metrics_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of metrics.jsonl, oldest first; one that a killed process left half written is passed over."""
    if not path.exists():
        return
    with path.open("rb") as stream:
        for text in stream:
            line = _parsed(text)
            if line is not None:
                yield line


def recorded(path: Path, attempt: int, step: int) -> dict[str, Any] | None:
    """The line of metrics.jsonl that a step of an attempt wrote."""
    for line in metrics_lines(path):
        if line.get("attempt") == attempt and line.get("step") == step:
            return line
    return None


def _last_line(path: Path) -> dict[str, Any] | None:
    if not path.exists():
        return None
    with path.open("rb") as stream:
        stream.seek(max(0, stream.seek(0, os.SEEK_END) - _TAIL_BYTES))
        lines = stream.read().splitlines(keepends=True)
    return next((line for text in reversed(lines) if (line := _parsed(text)) is not None), None)


def _parsed(text: bytes) -> dict[str, Any] | None:
    try:
        line = json.loads(text) if text.endswith(b"\n") else None
    except ValueError:
        return None
    return line if isinstance(line, dict) and {"attempt", "step", "cursor", "rows"} <= line.keys() else None


def _cursor(checkpoint: Path) -> int:
    return read_state(checkpoint).cursor
