"""`obelics intervene`: a person changes a run, with a reason, by one line of its ledger. Nothing is edited by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.training.train.state.cursor import row_order
from obelics_pipeline.training.train.state.entries import Change, Entry, RequeueRows, SkipRows
from obelics_pipeline.training.train.state.head import Head, head_of
from obelics_pipeline.training.train.state.kept import FOLDER, to_resume
from obelics_pipeline.training.train.state.ledger import Ledger, active, holdings, last_attempt, read_ledger
from obelics_pipeline.training.train.state.lineage import Lineage
from obelics_pipeline.training.train.state.saved import read_state

ROWS = ("skip_rows", "requeue_rows")
BY_STEP = ("lr", "weight_decay", "clip", "reset_moments", "unfreeze", "config")  # these begin at a step


def intervene(run: Path, kind: str, reason: str, *, force: bool = False, **fields: Any) -> Entry:
    """Write one change into a run's ledger; it holds from `at` on (default: the run's next step).

    Raises `UserError` for a step or rows that the run has behind it; and, unless forced, for a second change at the
    same step (nobody could tell which of them helped) and for a higher learning rate that is no trial.
    """
    if not reason.strip():
        raise UserError("--reason is empty: say why, so that others can understand the run from its ledger")
    ledger = read_ledger(run)
    head = head_of(run, ledger.entries)
    if kind == "rollback":
        return _roll_back(run, ledger, head, reason, int(fields["step"]), fields.get("rows") or ())
    if kind in BY_STEP:
        fields["at"] = _at(fields.get("at"), head, ledger, force)
    if kind == "lr" and float(fields["factor"]) > 1 and not (fields.get("branch") or force):
        raise UserError(
            f"--factor {fields['factor']:g} raises the learning rate: --branch tries it, and goes back at the guard's "
            "first act; --force keeps it"
        )
    if kind in ROWS:
        _refuse_rows(run, kind, fields, head, ledger)
    return ledger.append(kind, attempt=head.attempt, step=head.step, why=reason, **fields)


def _at(at: int | None, head: Head, ledger: Ledger, force: bool) -> int:
    at = head.step + 1 if at is None else at
    if at <= head.step:
        raise UserError(
            f"--at {at} is in the past: the run has done step {head.step}; give {head.step + 1} or more, or go back "
            "first: obelics intervene RUN rollback STEP"
        )
    for entry in active(ledger.entries, at):
        if entry.at == at and not isinstance(entry, SkipRows | RequeueRows) and not force:
            raise UserError(
                f"--at {at}: entry {entry.number} ({entry.kind}) begins at this step too, so "
                "their effects could not be told apart; choose another step, undo it, or give --force"
            )
    return at


def _refuse_rows(run: Path, kind: str, fields: dict[str, Any], head: Head, ledger: Ledger) -> None:
    start, stop = fields["start"], fields["stop"]
    if kind == "skip_rows" and start < head.cursor:
        raise UserError(f"rows {start}:{stop}: the run has those before {head.cursor} behind it; give later ones")
    rows = _planned_rows(run)
    if kind == "skip_rows" or rows is None:
        return
    last = row_order(rows, holdings(ledger.entries)).stop
    if stop > last:
        raise UserError(f"rows {start}:{stop}: there are {last}; give rows before that")


def _planned_rows(run: Path) -> int | None:
    """Rows of the run's plan, if it is where the run says."""
    try:
        place = (run / "plan.txt").read_text(encoding="utf-8").splitlines()[0].rsplit(maxsplit=1)[0]
        return int(json.loads((Path(place) / "plan.json").read_bytes())["rows"])
    except (OSError, LookupError, ValueError, TypeError):
        return None


def _roll_back(run: Path, ledger: Ledger, head: Head, reason: str, step: int, rows: tuple[int, ...]) -> Entry:
    """Begin a new attempt after an earlier step; the run takes it up when it is started again."""
    if step > head.step:
        raise UserError(f"rollback {step}: the run has only come to step {head.step}")
    kept = to_resume(run / FOLDER, Lineage(ledger.entries), step)
    assert kept is not None
    cursor = read_state(kept.path).cursor
    if rows and rows[0] < cursor:
        raise UserError(f"rows {rows[0]}:{rows[1]}: step {step} ended before {cursor}; give rows from there on")
    before = last_attempt(ledger.entries)
    return ledger.append(
        "rollback",
        attempt=before + 1,
        step=head.step,
        why=reason,
        parent=before,
        from_step=step,
        to_step=step,
        cursor=cursor,
        rows=rows,
    )


def described(entry: Entry) -> str:
    """An entry in a line, for a person."""
    common = {"number", "attempt", "step", "kind", "why", "evidence", "at"}
    fields = ", ".join(f"{key} {value}" for key, value in entry.model_dump().items() if key not in common)
    at = (
        f" from step {entry.at} on"
        if isinstance(entry, Change) and not isinstance(entry, SkipRows | RequeueRows)
        else ""
    )
    return f"{entry.number}  {entry.kind}  {fields}{at}{f': {entry.why}' if entry.why else ''}"
