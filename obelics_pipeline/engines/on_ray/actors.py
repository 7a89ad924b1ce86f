"""Workers that hold a model: an actor pool of Ray Data, one unit per call, receipts out, ids compared."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from obelics_pipeline.core.commit import Manifest
from obelics_pipeline.core.config.ray import RayConfig
from obelics_pipeline.core.errors import Stopped, UserError
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.engines.attempts import ATTEMPTS, units_done
from obelics_pipeline.engines.engine import Failure, Work
from obelics_pipeline.engines.on_ray.child_process import Call, ChildProcess, run_in_child
from obelics_pipeline.engines.pool import NEVER, Died, Raised


class Scorer:
    """An actor. Its child holds the model, so that a unit that kills or hangs it costs the child, not the actor."""

    def __init__(self, guard: ChildProcess, work: Work) -> None:
        self._guard, self._work = guard, work

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        """The outcome of one unit, after all its tries."""
        unit = pickle.loads(row["unit"])  # noqa: S301 - comes from our own driver
        outcome: Manifest | Failure | Exception
        try:
            [(_, outcome)] = units_done(self._each, self._work, [unit])
        except (UserError, Stopped) as error:
            outcome = error
        return {"name": unit.name, "outcome": pickle.dumps(outcome)}

    def _each(
        self, function: Callable[[Any], Any], waiting: deque[Any], /
    ) -> Iterator[tuple[Any, Any | Raised | Died]]:
        while waiting:
            item = waiting.popleft()
            yield item, run_in_child(self._guard, Call(pickle.dumps(function), pickle.dumps(item)))


def units_scored(
    guard: ChildProcess, work: Work, units: Sequence[Unit], config: RayConfig
) -> Iterator[tuple[Unit, Manifest | Failure]]:
    """Every unit once, as they finish. What Ray loses is handed to it again, and at last is a `Failure`.

    Raises `Stopped` when a disk is full, `UserError` when a unit or the cluster finds that the setting is wrong.
    """
    if not units:
        return
    import ray

    actors, gpus = capacity(ray.cluster_resources(), config)  # type: ignore[no-untyped-call]
    guard = replace(guard, recycle_bytes=NEVER)
    left = {unit.name: unit for unit in units}
    for _ in range(ATTEMPTS):
        if not left:
            return
        for name, outcome in _pass(guard, work, list(left.values()), actors, config.cpus_per_actor, gpus):
            if isinstance(outcome, Exception):
                raise outcome
            yield left.pop(name), outcome
    for unit in left.values():
        yield unit, Failure(f"its actor was lost {ATTEMPTS} times")


def _pass(
    guard: ChildProcess, work: Work, units: Sequence[Unit], actors: int, cpus: float, gpus: float
) -> Iterator[tuple[str, Manifest | Failure | Exception]]:
    """One streaming pass over units. A row that Ray gives up is absent."""
    import ray
    import ray.data

    ray.data.DataContext.get_current().max_errored_blocks = -1  # without it one lost row ends the pass
    rows = ray.data.from_items([{"unit": pickle.dumps(unit)} for unit in units], override_num_blocks=len(units))
    scored = rows.map(
        Scorer,  # type: ignore[arg-type]  # Ray's stub knows functions only
        fn_constructor_args=(guard, work),
        compute=ray.data.ActorPoolStrategy(size=min(actors, len(units))),
        num_cpus=cpus,
        num_gpus=gpus or None,
        max_restarts=-1,
        max_task_retries=ATTEMPTS,  # Ray's default is for ever
    )
    for row in scored.iter_rows():
        yield row["name"], pickle.loads(row["outcome"])  # noqa: S301 - comes from our own workers


def capacity(has: Mapping[str, float], config: RayConfig) -> tuple[int, float]:
    """How many actors, and the GPUs of each, by the resources of a cluster; `UserError` where it has not so much.

    Actors that take every CPU leave none for the tasks that feed them, and Ray Data then waits for ever.
    """
    there = has.get("GPU", 0.0)
    gpus = min(1.0, there) if config.gpus_per_actor is None else config.gpus_per_actor
    actors = config.actors or (max(1, int(there / gpus)) if gpus else 1)
    if actors * config.cpus_per_actor >= has.get("CPU", 0):
        raise UserError(
            f"config: ray.actors x ray.cpus_per_actor = {actors * config.cpus_per_actor:g} of the cluster's "
            f"{has.get('CPU', 0):g} CPUs, which leaves none to read with; set one of them lower"
        )
    if actors * gpus > there:
        raise UserError(
            f"config: ray.actors x ray.gpus_per_actor = {actors * gpus:g}, and the cluster has {there:g} GPUs; set "
            "one of them lower, or add nodes"
        )
    return actors, gpus
