"""The engine of a sample: one worker, one try at each unit, and the cost of every step written down."""

from __future__ import annotations

import resource
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from os import getpid
from pathlib import Path
from typing import Any, TypeVar

from obelics_pipeline.core.commit import Manifest
from obelics_pipeline.core.errors import Stopped, UserError
from obelics_pipeline.core.storage import Location
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.engines.engine import Failure, MakeModel, Work, WorkWithModel
from obelics_pipeline.engines.groups import Group, Reduce
from obelics_pipeline.engines.local import LocalEngine
from obelics_pipeline.engines.model import WithModel
from obelics_pipeline.engines.pool import Died, Pool, Raised
from obelics_pipeline.engines.worker import start_worker
from obelics_pipeline.inspect.check.meter import Traffic, so_far

Value = TypeVar("Value")

# Who does a step: a worker, the engine that brings rows together, a worker that reduces a group of them, the driver.
UNIT, SHUFFLE, REDUCE, DRIVER = "unit", "shuffle", "reduce", "driver"
COST = "cost"  # the note that a measured unit comes back with


@dataclass(frozen=True)
class Cost:
    """Resources used. `memory`: the largest size of the process so far, in bytes."""

    cpu: float  # seconds
    wall: float  # seconds
    memory: int
    traffic: Traffic


@dataclass(frozen=True)
class Step:
    """A piece of a stage that was measured. `label` is that of the extracted unit it belongs to, if to one."""

    stage: str
    kind: str
    name: str
    label: str
    cost: Cost


class Watch:
    """Measures this process from when it is made."""

    def __init__(self) -> None:
        self._cpu, self._wall, self._traffic = time.process_time(), time.monotonic(), so_far()

    def cost(self) -> Cost:
        """The resources used since the meter was made."""
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024  # Linux gives KiB
        cpu, wall = time.process_time() - self._cpu, time.monotonic() - self._wall
        return Cost(cpu, wall, memory, so_far() - self._traffic)


@dataclass(frozen=True)
class _Timed:
    """Work whose manifest says what it cost. The note is not committed: it comes back from the worker only."""

    work: Work

    def __call__(self, unit: Unit) -> Manifest:
        watch = Watch()
        manifest = self.work(unit)
        return replace(manifest, notes=manifest.notes | {COST: watch.cost()})


@dataclass(frozen=True)
class _TimedCall:
    function: Callable[[Any], Any]

    def __call__(self, item: Any) -> tuple[Any, Cost]:
        watch = Watch()
        return self.function(item), watch.cost()


class _Shuffler(LocalEngine):
    """The local engine's shuffle, with the workers of the sample."""

    def __init__(self, folder: Path, seconds: float, reduce: Callable[..., Iterator[Any]]) -> None:
        super().__init__(1, folder, seconds)
        self._reduce = reduce

    def map(self, function: Callable[[Any], Value], items: Iterable[Any]) -> Iterator[Value]:
        """In the sample's own worker, measured."""
        return self._reduce(function, items)


class SampledEngine:
    """Runs units one after the other in a process of their own. Use as a context manager.

    `folder` is a local one for locks. A unit that takes longer than `seconds`, or takes its worker down, fails at once.
    """

    def __init__(self, folder: Path, seconds: float, preload: Sequence[str] = ()) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._pool: Pool[Any, Any] = Pool(1, start_worker, (getpid(), str(folder)), preload)
        self._shuffler, self._seconds = _Shuffler(folder, seconds, self._reduce), seconds
        self._stage = self._column = ""
        self.steps: list[Step] = []

    def __enter__(self) -> SampledEngine:
        self._pool.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._pool.__exit__(*error)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """What is done in the block belongs to a stage; what neither a worker nor a shuffle does is the driver's."""
        self._stage, first, watch = name, len(self.steps), Watch()
        yield
        whole, shuffles = watch.cost(), [s.cost for s in self.steps[first:] if s.kind == SHUFFLE]
        cpu = whole.cpu - sum(cost.cpu for cost in shuffles)
        traffic = whole.traffic - sum((cost.traffic for cost in shuffles), Traffic())
        self._note(DRIVER, "driver", "", Cost(cpu, cpu, whole.memory, traffic))

    def map_units(self, work: Work, units: Sequence[Unit]) -> Iterator[tuple[Unit, Manifest | Failure]]:
        """Every unit once. Raises UserError and Stopped, as a run would."""
        for unit, result in self._pool.each(_Timed(work), deque(units), self._seconds):
            if isinstance(result, Manifest):
                self._note(UNIT, unit.stage, _label(unit), result.notes.pop(COST))
                yield unit, result
            else:
                yield unit, Failure(_why(result, self._seconds))

    def map_models(
        self, make: MakeModel, work: WorkWithModel, units: Sequence[Unit]
    ) -> Iterator[tuple[Unit, Manifest | Failure]]:
        """As `map_units`, in the same process."""
        return self.map_units(WithModel(make, work), units)

    def map(self, function: Callable[[Any], Value], items: Iterable[Any]) -> Iterator[Value]:
        """What a picklable function gives for each item, in their order. Raises what it raises."""
        return self._call(function, items, UNIT, "call")

    def _reduce(self, function: Callable[[Any], Value], items: Iterable[Any]) -> Iterator[Value]:
        return self._call(function, items, REDUCE, self._column)

    def _call(self, function: Callable[[Any], Value], items: Iterable[Any], kind: str, name: str) -> Iterator[Value]:
        for item in items:
            for _, result in self._pool.each(_TimedCall(function), deque([item]), self._seconds):
                if isinstance(result, Raised):
                    raise result.error
                if isinstance(result, Died):
                    raise RuntimeError(f"a worker {result.how}")
                value, cost = result
                self._note(kind, name, "", cost)
                yield value

    def shuffle(self, sources: Sequence[Location], column: str, reduce: Reduce, output: Location) -> dict[str, Group]:
        """The shuffle of the local engine; what a group is reduced by is a step of its own."""
        watch, first = Watch(), len(self.steps)
        self._column = column
        groups = self._shuffler.shuffle(sources, column, reduce, output)
        cost = watch.cost()
        reduced = sum(step.cost.wall for step in self.steps[first:])
        self._note(SHUFFLE, column, "", replace(cost, wall=max(cost.cpu, cost.wall - reduced)))
        return groups

    def _note(self, kind: str, name: str, label: str, cost: Cost) -> None:
        self.steps.append(Step(self._stage, kind, name, label, cost))


def _label(unit: Unit) -> str:
    return unit.label or str(unit.payload.get("documents", "")).rpartition("-")[0]


def _why(result: Raised | Died, seconds: float) -> str:
    if isinstance(result, Died):
        return f"its worker {result.how} (within {seconds:,.0f} s)"
    if isinstance(result.error, UserError | Stopped):
        raise result.error
    return f"{type(result.error).__name__}: {' '.join(str(result.error).split())}"[:200]
