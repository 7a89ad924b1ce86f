"""The engines of a command: one scores rows, one does the work that needs no model."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from obelics_pipeline.core.commit import Manifest
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.storage import TEMPORARY, Location
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.engines.attempts import WorkersDie, in_order
from obelics_pipeline.engines.engine import Engine, Failure
from obelics_pipeline.engines.gpus import of_its_own
from obelics_pipeline.engines.local import LocalEngine
from obelics_pipeline.engines.pool import NEVER, Pool
from obelics_pipeline.engines.worker import start_worker
from obelics_pipeline.jobs.score_rows.columns import Asked
from obelics_pipeline.jobs.score_rows.in_workers import Maps
from obelics_pipeline.jobs.score_rows.scorer import Scorer, scorer_of
from obelics_pipeline.stages.score.trial import processes

BATCHES_PER_WORKER = 16  # held at a time: workers wait at the end of such a window, for half a batch on average
BATCHES_ON_CLUSTER = 256  # the same, where the engine decides how many workers there are
BATCH_SECONDS = 600.0  # a batch that takes longer is tried again; with text filters the largest row takes half a minute
LONG_SECONDS = 3600.0  # the same for a batch under a model, and for the images of a bucket of hosts, as in a run
PRELOAD = ("obelics_pipeline.jobs.score_rows.json_lines", "obelics_pipeline.jobs.score_rows.table_rows")
RESULT = "result"  # among the notes of a receipt

OpenEngine = Callable[[Location, RunConfig], AbstractContextManager[Engine]]  # from a folder and the config
Value = TypeVar("Value")


@dataclass(frozen=True)
class Engines:
    """`scoring` is what rows are scored by, `at_once` batches of them held; `plain` opens one without models."""

    scoring: Maps
    at_once: int
    plain: Callable[[], AbstractContextManager[Maps]]


@contextmanager
def open_engines(
    open_engine: OpenEngine | None, workers: int | None, target: Location, config: RunConfig, asked: Asked
) -> Iterator[Engines]:
    """The engine that `open_engine` makes; without it, the engines of this machine.

    `workers` None: as many as a cluster has room for; here one per CPU core. If they hold models, as many as a
    run has: one for each GPU, or one on a machine without GPUs.
    """
    if open_engine is None:
        with TemporaryDirectory(prefix=TEMPORARY) as name:
            plain = partial(LocalEngine, workers or os.cpu_count() or 1, Path(name), LONG_SECONDS, PRELOAD)
            n = workers or (processes(asked.models()) if asked.of_models() else os.cpu_count() or 1)
            with _local(n, Path(name), bool(asked.of_models())) as scoring:
                yield Engines(scoring, BATCHES_PER_WORKER * n, plain)
        return
    with ExitStack() as stack:
        folder: Location = target.parent
        if isinstance(folder, Path):  # all its workers see it, and it is gone afterwards
            folder = Path(stack.enter_context(TemporaryDirectory(dir=folder, prefix=TEMPORARY)))
        engine = stack.enter_context(open_engine(folder, config))
        at_once = BATCHES_PER_WORKER * workers if workers else BATCHES_ON_CLUSTER
        scoring = OnActors(engine, asked) if asked.of_models() else engine
        yield Engines(scoring, at_once, lambda: nullcontext(engine))


def _local(workers: int, folder: Path, models: bool) -> AbstractContextManager[Maps]:
    if models:
        return ModelWorkers(workers, folder)
    return LocalEngine(workers, folder, BATCH_SECONDS, PRELOAD)


class ModelWorkers:
    """Processes of this machine that keep their models from the first batch to the last. A context manager.

    Where there are several, each has a GPU of its own, while there are enough. `folder` is for their locks.
    """

    def __init__(self, workers: int, folder: Path) -> None:
        start = (os.getpid(), str(folder))
        environment = of_its_own if workers > 1 else None
        self._pool: Pool[Any, Any] = Pool(workers, start_worker, start, PRELOAD, NEVER, environment)

    def __enter__(self) -> ModelWorkers:
        self._pool.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._pool.__exit__(*error)

    def map(self, function: Callable[[Any], Value], items: Iterable[Any]) -> Iterator[Value]:
        """What a picklable function gives for each item, in their order. Raises what it raises, and WorkersDie."""
        return in_order(partial(self._pool.each, seconds=LONG_SECONDS), function, items)


@dataclass(frozen=True)
class MakeScorer:
    """Makes the scorer of an actor; two that are equal make the same."""

    asked: Asked

    def __call__(self) -> Scorer:
        """Load its models. Raises UserError for what is missing."""
        scorer = scorer_of(self.asked)
        scorer.load()
        return scorer


class OnActors:
    """Maps batches over the actors of a cluster, with the GPUs that `ray.gpus_per_actor` gives each."""

    def __init__(self, engine: Engine, asked: Asked) -> None:
        self._engine, self._asked = engine, asked

    def map(self, function: Callable[[Any], Value], items: Iterable[Any]) -> Iterator[Value]:
        """What a function gives for each item, in their order. Raises UserError, and WorkersDie for what fails."""
        units = [Unit("score", str(number), "", {"item": item}) for number, item in enumerate(items)]
        found: dict[str, Value] = {}
        for unit, outcome in self._engine.map_models(MakeScorer(self._asked), partial(_call, function), units):
            if isinstance(outcome, Failure):
                raise WorkersDie(outcome.reason)
            found[unit.id] = outcome.notes[RESULT]
        return iter([found[unit.id] for unit in units])


def _call(function: Callable[[Any], Any], unit: Unit, _scorer: Scorer) -> Manifest:
    """One batch, by the scorer that this process has; its result travels with the receipt."""
    return Manifest(unit.id, unit.stage, {}, {}, {RESULT: function(unit.payload["item"])})
