"""A finding: one check before a run and its outcome, in one line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "warning", "missing"]


@dataclass(frozen=True)
class Finding:
    """`missing`: no run can start. `warning`: it can, but a person should know. `text` says what to do."""

    about: str
    state: State
    text: str

    def __str__(self) -> str:
        return f"{self.state:8} {self.about}: {self.text}"


def exit_code(findings: Iterable[Finding]) -> int:
    """0 where a run can start, 2 where something that it needs is missing."""
    return 2 if any(finding.state == "missing" for finding in findings) else 0


def gigabytes(size: float) -> str:
    """Bytes for a person."""
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if size >= unit:
            return f"{size / unit:,.1f} {name}"
    return f"{size / 1e3:,.1f} kB"
