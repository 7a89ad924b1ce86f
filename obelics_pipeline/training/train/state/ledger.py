"""The ledger of a run: everything that was done to it and why, one JSON object a line, appended and never changed."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from pydantic import ValidationError

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.training.train.state.entries import ENTRY, Beginning, Change, Entry, LearningRate, Rollback, Undo

NAME = "ledger.jsonl"


class Ledger:
    """A ledger that is read, and appended to. Several processes may append: each entry gets the next number.

    A last line that a killed process left half written is skipped, and cut off by the next append; until then
    `half` has it. Raises `UserError` for any other line that cannot be read: a ledger with a hole says nothing.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.half: str | None = None
        self._entries: list[Entry] = []
        self._bytes = 0  # up to which it has been read
        if path.exists():
            with path.open("rb") as stream:
                self._read(stream)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All entries known so far, oldest first."""
        return tuple(self._entries)

    def refresh(self) -> tuple[Entry, ...]:
        """Read what others appended since; returns only that. Where nothing was, the file is not opened."""
        known = len(self._entries)
        if (known or self.path.exists()) and self.path.stat().st_size != self._bytes:
            with self.path.open("rb") as stream:
                self._read(stream)
        return tuple(self._entries[known:])

    def append(
        self,
        kind: str,
        *,
        attempt: int,
        step: int,
        why: str = "",
        evidence: dict[str, Any] | None = None,
        **fields: Any,
    ) -> Entry:
        """Add an entry; when this returns it is on the disk. Raises `UserError` for fields that its kind does not have,
        or for an undo of what cannot be undone."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a+b") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            self._read(stream)
            if self.half is not None:
                stream.truncate(self._bytes)
                self.half = None
            number = len(self._entries) + 1
            value = {"number": number, "attempt": attempt, "step": step, "kind": kind, "why": why}
            entry = _parsed({**value, "evidence": evidence or {}, **fields}, f"{self.path}: a new entry")
            _refuse_undo(entry, self._entries, str(self.path))
            line = entry.model_dump_json().encode() + b"\n"
            stream.write(line)
            stream.flush()
            os.fsync(stream.fileno())
            self._bytes += len(line)
        self._entries.append(ENTRY.validate_json(line))  # as everybody else will read it
        return self._entries[-1]

    def _read(self, stream: BinaryIO) -> None:
        size = stream.seek(0, os.SEEK_END)
        if size < self._bytes:
            raise UserError(
                f"{self.path}: it is shorter than it was ({size} of {self._bytes} bytes); put it back whole"
            )
        stream.seek(self._bytes)
        *lines, rest = stream.read().split(b"\n")
        for line in lines:
            number = len(self._entries) + 1
            entry = _parsed_line(line, f"{self.path}: line {number}")
            if entry.number != number:
                raise UserError(
                    f"{self.path}: line {number} has the number {entry.number}; a line is missing before it"
                )
            _refuse_undo(entry, self._entries, f"{self.path}: line {number}")
            self._entries.append(entry)
            self._bytes += len(line) + 1
        self.half = rest.decode("utf-8", "replace") if rest else None


def read_ledger(path: Path) -> Ledger:
    """The ledger of a run's folder, or of a file. Raises `UserError` if the file is missing."""
    path = path / NAME if path.is_dir() else path
    if not path.exists():
        raise UserError(f"{path}: no ledger here; give the folder of a run that obelics train began")
    return Ledger(path)


def _parsed_line(line: bytes, where: str) -> Entry:
    try:
        value = json.loads(line)
    except ValueError:
        raise UserError(f"{where} is damaged: {line[:40]!r}; put back the copy of a checkpoint") from None
    return _parsed(value, where)


def _parsed(value: Any, where: str) -> Entry:
    try:
        return ENTRY.validate_python(value)
    except ValidationError as error:
        first = error.errors()[0]
        kind = value.get("kind") if isinstance(value, dict) else None
        place = ".".join(str(part) for part in first["loc"] if part != kind)
        raise UserError(f"{where} is no entry of kind {kind}: {place or 'entry'}: {first['msg']}") from None


def _refuse_undo(entry: Entry, before: Sequence[Entry], where: str) -> None:
    if not isinstance(entry, Undo):
        return
    of = before[entry.of - 1] if entry.of <= len(before) else None
    if not isinstance(of, Change | Rollback):
        found = f"is of kind {of.kind}" if of else "does not exist"
        raise UserError(f"{where}: entry {entry.of} {found}; only changes and the rows of a rollback can be undone")
    if any(isinstance(other, Undo) and other.of == entry.of for other in before):
        raise UserError(f"{where}: entry {entry.of} is undone already")


@dataclass(frozen=True)
class Holding:
    """A change and the steps that it holds for: from `at` on, before `until` where it was undone."""

    entry: Change | Rollback
    at: int
    until: int | None = None

    def holds(self, step: int) -> bool:
        """Whether the change is in force in this step."""
        return self.at <= step and (self.until is None or step < self.until)


def holdings(entries: Sequence[Entry]) -> tuple[Holding, ...]:
    """Every change of a ledger with its steps, in the order of their numbers. Compute it once and keep it.

    An undo holds from the step after it, so that what was done before can still be told; where the run has since gone
    back to an earlier step, from there on.
    """
    undone: dict[int, int] = {}
    for entry in entries:
        if isinstance(entry, Undo):
            undone[entry.of] = entry.step + 1
        elif isinstance(entry, Beginning):
            undone = {of: min(until, entry.from_step + 1) for of, until in undone.items()}
    return tuple(
        Holding(entry, entry.at if isinstance(entry, Change) else entry.to_step + 1, undone.get(entry.number))
        for entry in entries
        if isinstance(entry, Change | Rollback)
    )


def active(entries: Sequence[Entry], step: int) -> tuple[Change, ...]:
    """The changes in force in a step, oldest first, and those that wait for a later step: all but the undone."""
    return tuple(
        holding.entry
        for holding in holdings(entries)
        if isinstance(holding.entry, Change) and (holding.until is None or step < holding.until)
    )


def revert_trials(ledger: Ledger, *, attempt: int, step: int, why: str) -> int | None:
    """Undo every learning rate that is on trial in this step (`branch`), as the guard had to act; returns the first
    step that one held for, before which the run should go back to, or None where none is on trial."""
    trials = [entry for entry in active(ledger.entries, step) if isinstance(entry, LearningRate) and entry.branch]
    begun = [entry for entry in trials if entry.at <= step]
    for entry in begun:
        ledger.append("undo", attempt=attempt, step=step, why=why, of=entry.number)
    return min((entry.at for entry in begun), default=None)


def last_attempt(entries: Sequence[Entry]) -> int:
    """The number of the attempt that is on, 0 before the first."""
    return max((entry.attempt for entry in entries if isinstance(entry, Beginning)), default=0)
