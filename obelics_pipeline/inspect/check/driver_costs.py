"""What the driver of a run costs by units and documents, as `python -m benchmarks.scale` measured it on made-up runs.

A sample of a few units cannot tell: it is all start.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.interval import Interval, rounded
from obelics_pipeline.inspect.check.finding import Finding

MEASURED = Path(__file__).with_name("driver_costs.json")  # on a machine of two cores; held to a run ten times as large
UNITS, ROWS = 1_000, 1_000_000  # that the numbers of a file are for


@dataclass(frozen=True)
class FittedCost:
    """A cost: what is there always, what comes with each unit of input, and what with each kept document."""

    once: float
    unit: float
    row: float

    def at(self, units: float, rows: float) -> float:
        """The cost of so many."""
        return self.once + self.unit * units + self.row * rows

    def to_json(self) -> dict[str, float]:
        """As a file has it: for a thousand units, for a million rows."""
        return {"once": self.once, "thousand_units": self.unit * UNITS, "million_rows": self.row * ROWS}

    @classmethod
    def from_json(cls, value: Mapping[str, float]) -> FittedCost:
        """The inverse of `to_json`."""
        return cls(float(value["once"]), value["thousand_units"] / UNITS, value["million_rows"] / ROWS)


@dataclass(frozen=True)
class DriverCosts:
    """CPU seconds by step, named `STAGE: STEP`. `source` says what was measured, when and on what machine."""

    seconds: Mapping[str, FittedCost]
    source: str

    def seconds_of(self, stage: str, units: float, documents: float) -> float | None:
        """CPU seconds of a stage in the driver; None for a stage that was not measured."""
        steps = [cost for step, cost in self.seconds.items() if step.partition(":")[0] == stage]
        return sum(cost.at(units, documents) for cost in steps) if steps else None


@dataclass(frozen=True)
class Driver:
    """The process that leads a run: its CPU seconds, one thing after the other."""

    seconds: Interval
    source: str  # of the costs that it was reckoned by

    def finding(self) -> Finding:
        """How long it works alone."""
        hours = rounded(self.seconds.point / 3600)
        return Finding("driver", "ok", f"{hours} h of work that no worker shares ({self.source})")


def read_driver_costs(path: Path) -> DriverCosts:
    """The costs in a file. Raises UserError for one that is not of that program."""
    try:
        value: dict[str, Any] = json.loads(path.read_bytes())
        return DriverCosts(
            {name: FittedCost.from_json(step["seconds"]) for name, step in value["driver"].items()},
            f"{value['source']}, {value['date']}, {value['machine']}",
        )
    except OSError as error:
        raise UserError(f"--driver-costs {path}: cannot be read ({error.strerror}); give a file") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UserError(
            f"--driver-costs {path}: not the costs of a driver; python -m benchmarks.scale --json FILE writes them"
        ) from None
