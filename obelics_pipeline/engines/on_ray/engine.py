"""The engine of a Ray cluster: tasks that do blocks of units, Ray Data's shuffle, and actors for models."""

from __future__ import annotations

import contextlib
import pickle
import secrets
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar

from obelics_pipeline.core.commit import Manifest
from obelics_pipeline.core.config.ray import RayConfig
from obelics_pipeline.core.errors import Stopped, UserError
from obelics_pipeline.core.storage import TEMPORARY, Location, create
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.engines.attempts import in_order, units_done
from obelics_pipeline.engines.engine import Failure, MakeModel, Work, WorkWithModel
from obelics_pipeline.engines.groups import Group, Reduce
from obelics_pipeline.engines.model import WithModel
from obelics_pipeline.engines.on_ray.actors import units_scored
from obelics_pipeline.engines.on_ray.child_process import ChildProcess, run_block
from obelics_pipeline.engines.on_ray.session import address_of, raylet_died, session
from obelics_pipeline.engines.on_ray.shuffle import shuffle
from obelics_pipeline.engines.pool import Died, Raised

Item = TypeVar("Item")
Value = TypeVar("Value")

LOOK_SECONDS = 5.0  # between two looks at how many CPUs the cluster has
# A task costs the driver 1 to 2 ms, whatever it does (benchmarks/scale/engines.py), so that it does many short units.
BLOCK_SECONDS = 2.0  # after which a task begins no further unit: what a lost node loses, and an end is uneven by
BLOCK_UNITS = 256  # at most: a message of some 100 kB


class RayEngine:
    """Runs units on a Ray cluster. Use as a context manager: a Ray that it started ends with it.

    `address` is that of a cluster; None: RAY_ADDRESS, or a Ray of our own with `workers` CPUs. On a cluster `workers`
    bounds how many units run at a time; None: as many as it has room for. `folder` is the run's, and all nodes see it.
    """

    def __init__(
        self,
        address: str | None,
        workers: int | None,
        folder: Location,
        unit_timeout_seconds: float,
        config: RayConfig,
        preload: Sequence[str] = (),
    ) -> None:
        self._address, self._workers, self._config = address_of(address), workers, config
        folder = folder.absolute() if isinstance(folder, Path) else folder
        mark = f"{TEMPORARY}ray-{secrets.token_hex(8)}"  # a name nobody can have seen before
        self._guard = ChildProcess(folder, mark, unit_timeout_seconds, tuple(preload))
        self._open = ExitStack()
        self._slots, self._looked = 0.0, float("-inf")

    def __enter__(self) -> RayEngine:
        with ExitStack() as stack:
            create(self._guard.folder / self._guard.mark, b"")
            stack.callback(self._remove_mark)
            stack.enter_context(session(self._address, self._workers, self._config))
            if self._address != "local":
                list(self.map(_nothing, [None]))  # a cluster that cannot work for us is told of before anything else
            self._open = stack.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        self._open.__exit__(*error)

    def _remove_mark(self) -> None:
        with contextlib.suppress(OSError):
            (self._guard.folder / self._guard.mark).unlink()

    def map_units(self, work: Work, units: Sequence[Unit]) -> Iterator[tuple[Unit, Manifest | Failure]]:
        """Every unit once, as they finish. A unit whose worker or node dies is tried again; the others never notice.

        Raises `Stopped` when a disk is full or the cluster is gone, `UserError` when the setting is wrong.
        """
        return units_done(self._each, work, units)

    def map_models(
        self, make: MakeModel, work: WorkWithModel, units: Sequence[Unit]
    ) -> Iterator[tuple[Unit, Manifest | Failure]]:
        """As `map_units`, on actors that each make one model and keep it: `work(unit, model)`."""
        return units_scored(self._guard, WithModel(make, work), units, self._config)

    def map(self, function: Callable[[Item], Value], items: Iterable[Item]) -> Iterator[Value]:
        """What a picklable function gives for each item, in their order. Raises what it raises."""
        return in_order(self._each, function, items)

    def shuffle(self, sources: Sequence[Location], column: str, reduce: Reduce, output: Location) -> dict[str, Group]:
        """Ray Data brings rows together by a column, and its tasks reduce each group."""
        from ray import exceptions

        output = output.absolute() if isinstance(output, Path) else output
        try:
            return shuffle(sources, column, reduce, output, self._config)
        except exceptions.LocalRayletDiedError:
            raise raylet_died() from None

    def _each(
        self, function: Callable[[Any], Any], waiting: deque[Any], /
    ) -> Iterator[tuple[Any, Any | Raised | Died]]:
        """Ray tasks, a bounded number of them at a time, that each do a block of items, for some seconds.

        Of a block that is lost one item may have taken its worker down: each goes once more, alone, and is lost only
        where it is lost then.
        """
        import ray

        task = ray.remote(run_block).options(
            num_cpus=self._config.cpus_per_unit,
            memory=self._config.memory_per_unit_bytes or None,
            max_retries=0,  # who tries again, and how often, is decided by the rule that all engines share
        )
        packed = pickle.dumps(function)
        size = 1
        alone: deque[Any] = deque()
        running: dict[Any, list[Any]] = {}
        try:
            while waiting or alone or running:
                while (waiting or alone) and len(running) < self._room():
                    items = [alone.popleft()] if alone else _drawn(waiting, size)
                    running[task.remote(self._guard, packed, [pickle.dumps(i) for i in items], BLOCK_SECONDS)] = items
                for reference in self._finished(list(running)):
                    items = running.pop(reference)
                    found = _outcomes(reference)
                    if isinstance(found, list):
                        left = items[len(found) :]
                        size = len(found) if left else min(BLOCK_UNITS, max(size, 2 * len(items)))
                        waiting.extendleft(reversed(left))
                        yield from zip(items, found, strict=False)
                    elif len(items) > 1:
                        alone.extend(items)
                    else:
                        yield items[0], found
        finally:
            for reference in running:  # somebody gave up: what is left is of no more use
                ray.cancel(reference, force=True)

    def _room(self) -> float:
        """How many units may be at Ray at a time."""
        if self._workers is not None:
            return self._workers
        import ray

        if time.monotonic() >= self._looked + LOOK_SECONDS:
            self._looked = time.monotonic()
            cpus = ray.cluster_resources().get("CPU", 0.0)  # type: ignore[no-untyped-call]
            self._slots = cpus / self._config.cpus_per_unit
        return max(1.0, self._config.in_flight * self._slots)

    def _finished(self, running: list[Any]) -> list[Any]:
        """At least one that ended. Raises Stopped where none can: no node fits a unit any more."""
        import ray

        fitted = time.monotonic()
        while True:
            done, rest = ray.wait(running, num_returns=1, timeout=LOOK_SECONDS)
            if done:
                return done + (ray.wait(rest, num_returns=len(rest), timeout=0)[0] if rest else [])
            if self._fits():
                fitted = time.monotonic()
            elif time.monotonic() > fitted + self._config.start_seconds:
                raise Stopped(
                    f"no node of the Ray cluster {self._address} has had {self._config.cpus_per_unit:g} CPUs and "
                    f"{self._config.memory_per_unit_bytes} bytes of memory for {self._config.start_seconds:g} s; see "
                    "ray status, and run the same command again to continue"
                )

    def _fits(self) -> bool:
        """Whether any node that is alive could run a unit."""
        import ray

        wanted = {"CPU": self._config.cpus_per_unit, "memory": self._config.memory_per_unit_bytes}
        known = ray.nodes()  # type: ignore[no-untyped-call]
        nodes = [node["Resources"] for node in known if node["Alive"]]
        return any(all(node.get(name, 0) >= amount for name, amount in wanted.items()) for node in nodes)


def _nothing(_: None) -> None:
    """A call that only shows that calls arrive."""


def _drawn(waiting: deque[Any], most: int) -> list[Any]:
    """Up to so many items, no longer waiting."""
    items = [waiting.popleft()]
    while waiting and len(items) < most:
        items.append(waiting.popleft())
    return items


def _outcomes(reference: Any) -> list[Any] | Raised | Died:
    """What a task gave. One by one, so that one that was lost takes no other with it.

    Raises `UserError` where a node lacks something, `Stopped` where this machine's raylet died: no task can start then.
    """
    import ray
    from ray import exceptions

    try:
        found: list[Any] = ray.get(reference)
        return found
    except exceptions.RuntimeEnvSetupError as error:
        raise UserError(f"--engine ray: a node cannot take over this checkout: {str(error)[:300]!r}") from None
    except exceptions.RayTaskError as error:
        if isinstance(error.cause, ImportError):
            raise UserError(
                f"--engine ray: a node lacks what this run needs: {error.cause}; install it there"
            ) from None
        return Raised(error.cause if isinstance(error.cause, Exception) else RuntimeError(str(error)[-300:]))
    except exceptions.LocalRayletDiedError:
        raise raylet_died() from None
    except exceptions.NodeDiedError:
        return Died("lost its node")
    except exceptions.OutOfMemoryError:
        return Died("was killed for the node's memory")
    except exceptions.RayError as error:
        return Died(
            "died" if isinstance(error, exceptions.WorkerCrashedError) else f"was lost ({type(error).__name__})"
        )
