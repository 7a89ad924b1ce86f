"""A model that is made once per process and serves unit after unit, on any engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from obelics_pipeline.core.commit import Manifest
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.engines.engine import MakeModel, WorkWithModel

_made: dict[Any, Any] = {}


@dataclass(frozen=True)
class WithModel:
    """Work that wants a model: `work(unit, model)`, with what `make` gave when this process first asked.

    Both are picklable; `make` is hashable, and equal where it makes the same model. One model is held at a time.
    """

    make: MakeModel
    work: WorkWithModel

    def __call__(self, unit: Unit) -> Manifest:
        """Do one unit."""
        if self.make not in _made:
            _made.clear()
            _made[self.make] = self.make()
        return self.work(unit, _made[self.make])
