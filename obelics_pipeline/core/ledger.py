"""Ledgers: in = kept + dropped(reason) + failed(reason), per unit and per run. Nothing disappears uncounted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Ledger:
    """Counts of what entered, was kept, dropped and failed, by reason. `noun`: records, documents or images."""

    noun: str
    entered: int = 0
    kept: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)

    def keep(self, n: int = 1) -> None:
        """Count `n` that entered and were kept."""
        self.entered += n
        self.kept += n

    def drop(self, reason: str, n: int = 1) -> None:
        """Count `n` that entered and were dropped by a rule."""
        self.entered += n
        self.dropped[reason] += n

    def fail(self, reason: str, n: int = 1) -> None:
        """Count `n` that entered and could not be processed."""
        self.entered += n
        self.failed[reason] += n

    def count(self, reason: str | None, failed: bool) -> None:
        """Count one that entered: kept where there is no reason, else failed, or dropped by a rule."""
        if reason is None:
            self.keep()
        elif failed:
            self.fail(reason)
        else:
            self.drop(reason)

    def add(self, other: Ledger) -> None:
        """Add another unit's counts of the same noun."""
        if other.noun != self.noun:
            raise ValueError(f"cannot add a ledger of {other.noun} to one of {self.noun}")
        self.entered += other.entered
        self.kept += other.kept
        self.dropped.update(other.dropped)
        self.failed.update(other.failed)

    def balanced(self) -> bool:
        """Whether everything that entered is accounted for."""
        return self.entered == self.kept + self.dropped.total() + self.failed.total()

    def to_json(self) -> dict[str, Any]:
        """The ledger as manifests have it: reasons sorted, so that equal counts give equal bytes."""
        return {
            "in": self.entered,
            "kept": self.kept,
            "dropped": dict(sorted(self.dropped.items())),
            "failed": dict(sorted(self.failed.items())),
        }

    @classmethod
    def from_json(cls, noun: str, value: dict[str, Any]) -> Ledger:
        """The inverse of `to_json`."""
        return cls(noun, value["in"], value["kept"], Counter(value["dropped"]), Counter(value["failed"]))


def total(noun: str, ledgers: Iterable[Ledger]) -> Ledger:
    """The sum of many units' ledgers."""
    out = Ledger(noun)
    for ledger in ledgers:
        out.add(ledger)
    return out


def totals(units: Iterable[Mapping[str, Ledger]]) -> dict[str, Ledger]:
    """The sums of many units' ledgers, by noun."""
    found: dict[str, Ledger] = {}
    for ledgers in units:
        for noun, ledger in ledgers.items():
            found.setdefault(noun, Ledger(noun)).add(ledger)
    return found
