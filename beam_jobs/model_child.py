"""Units for a model, by Beam's RunInference: the model is in a guarded child process, which does a unit at a time.

What a unit may do to the process it is in (end it, hang, fill its memory) is bounded as on every engine; and processes
of one machine share the child, where Beam runs several, so that a model is loaded once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from multiprocessing.util import Finalize
from threading import Lock
from typing import Any

from apache_beam.ml.inference.base import ModelHandler

from obelics_pipeline.beam_jobs.child_process import ChildProcess
from obelics_pipeline.beam_jobs.outcomes import to_json
from obelics_pipeline.core.errors import Stopped, UserError
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.engines.engine import MakeModel, WorkWithModel
from obelics_pipeline.engines.model import WithModel


class ModelChild:
    """A child process that makes the model with its first unit. Beam may call it from several processes."""

    def __init__(self, work: WithModel, guard: ChildProcess) -> None:
        self._work, self._engine, self._lock = work, guard.open_for_model(), Lock()
        self._over: str | None = None  # the run ends here: the driver knows, or will soon
        # Beam has no last word for a model, and a worker that exits would wait for its child, which waits for units.
        Finalize(None, self._engine.__exit__, (None, None, None), exitpriority=0)

    def do(self, line: str) -> str:
        """The outcome of a unit; both are JSON, see `outcomes`. A unit after the end of the run is not done."""
        with self._lock:
            if self._over is None:
                try:
                    [(_, outcome)] = self._engine.map_units(self._work, [unit_of(line)])
                    return json.dumps(to_json(outcome))
                except (UserError, Stopped) as error:
                    self._over = json.dumps(to_json(error))
            return self._over


class UnitHandler(ModelHandler[str, tuple[str, str], ModelChild]):
    """Units as lines of JSON in; the name and outcome of each out. Each is a batch of its own."""

    def __init__(self, make: MakeModel, work: WorkWithModel, guard: ChildProcess) -> None:
        super().__init__(min_batch_size=1, max_batch_size=1, large_model=True)
        self._work, self._guard = WithModel(make, work), guard

    def load_model(self) -> ModelChild:
        """Once per machine."""
        return ModelChild(self._work, self._guard)

    def run_inference(
        self, batch: Sequence[str], model: ModelChild, inference_args: dict[str, Any] | None = None
    ) -> Iterable[tuple[str, str]]:
        """Do the unit."""
        return [(unit_of(line).name, model.do(line)) for line in batch]


def unit_of(line: str) -> Unit:
    """A unit from a line of `write_units`."""
    return Unit(**json.loads(line))
