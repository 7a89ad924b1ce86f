"""How long each stage worked, from the event log: over all the times that a run was started."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from obelics_pipeline.jobs.events import Event, spans_of, starts_of
from obelics_pipeline.jobs.stages import STAGES, names_of, stage_of
from obelics_pipeline.stages.stage import Stage

BETWEEN = "between stages"  # reading what is done, planning, starting workers


@dataclass
class StageTime:
    """Wall seconds of a stage, units that it did in them, and the worker hours (each worker is one virtual CPU)."""

    stage: str
    seconds: float = 0.0
    units: int = 0
    failed: int = 0
    worker_hours: float = 0.0
    steps: dict[str, float] = field(default_factory=dict)  # seconds of each

    @property
    def rate(self) -> float | None:
        """Units a second."""
        return self.units / self.seconds if self.units and self.seconds > 0 else None


@dataclass(frozen=True)
class Times:
    """Seconds by stage. `starts`: how often the run was started. `workers`: those of each start, if known."""

    stages: Sequence[StageTime]
    starts: int
    seconds: float
    workers: Sequence[int]
    unknown_workers: bool

    @property
    def worker_hours(self) -> float:
        """In all."""
        return sum(stage.worker_hours for stage in self.stages)


def times_of(events: Sequence[Event], known: Sequence[Stage] = STAGES) -> Times:
    """The sums over all starts in a log. A step that a kill ended counts to the last event of its start.

    `known` are the stages of the run.
    """
    stages: dict[str, StageTime] = {}
    starts, total, workers, unknown = 0, 0.0, list[int](), False
    of = partial(stage_of, known)
    for start in starts_of(events):
        starts += 1
        n = start[0].get("workers")
        if isinstance(n, int):
            workers.append(n)
        else:
            unknown = True
        length = max(0.0, start[-1]["time"] - start[0]["time"])
        total += length
        spans = list(spans_of(start))
        for step, seconds in [*spans, (BETWEEN, max(0.0, length - sum(s for _, s in spans)))]:
            stage = stages.setdefault(of(step), StageTime(of(step)))
            stage.seconds += seconds
            stage.worker_hours += seconds / 3600 * (n if isinstance(n, int) else 1)
            stage.steps[step] = stage.steps.get(step, 0.0) + seconds
        for name, key in (("unit_done", "units"), ("unit_failed", "failed")):
            for event in start:
                if event["event"] == name and (told := stages.get(of(str(event.get("stage"))))):
                    setattr(told, key, getattr(told, key) + 1)
    rank: Mapping[str, int] = {name: i for i, name in enumerate(names_of(known))}
    ordered = sorted(stages.values(), key=lambda s: (s.stage == BETWEEN, rank.get(s.stage, len(rank)), s.stage))
    return Times(ordered, starts, total, workers, unknown)
