"""A unit of work: what it reads and the config that matters to it, and the id that follows from both."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Unit:
    """One piece of a stage. `payload` is all that the stage's function needs to find its input, as JSON values.

    `label` starts the names of the unit's files, so that a person reads from a name what is inside.
    """

    stage: str
    id: str
    label: str
    payload: dict[str, Any] = field(default_factory=dict, hash=False)
    crashes: int = 0  # how often it took its worker down in this run
    input: Mapping[str, int] = field(default_factory=dict, compare=False)  # {"bytes": 9}, where it is known

    @property
    def name(self) -> str:
        """Label and id: unique within a run, the same in every run that does the same work."""
        return f"{self.label}-{self.id}" if self.label else self.id


def label_of_unit(name: str) -> str:
    """The label in the name of a unit that has one."""
    return name.rpartition("-")[0]


def digest(*values: Any) -> str:
    """Sixteen hexadecimal digits over JSON values: the same values give the same digest, everywhere."""
    text = json.dumps(values, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
