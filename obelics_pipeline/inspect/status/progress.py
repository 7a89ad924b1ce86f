"""What the events of a log say of a run, one after the other: memory does not grow with their number."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from obelics_pipeline.inspect.status.hosts import Hosts
from obelics_pipeline.inspect.status.step import Step, begun, seconds_told
from obelics_pipeline.inspect.status.untrusted import count_of, list_of, text_of, values_of

MOST_STEPS = 1_000  # of a start
FAILED_HELD = 1_000  # failed units whose reasons are held


@dataclass(frozen=True)
class FailedUnit:
    """A unit that could not be done, and the first line of why."""

    stage: str
    unit: str
    reason: str


@dataclass(frozen=True)
class Start:
    """One start of the command: what `run_started` says of it."""

    at: float  # seconds since 1970
    config: str
    workers: int | None
    process: dict[str, Any]  # see core.process
    stages: tuple[str, ...]  # that it will do


@dataclass(frozen=True)
class End:
    """How a start ended: exit code, and why where it was stopped."""

    at: float
    exit_code: int
    reason: str
    stopped: bool


@dataclass
class Spent:
    """What units took, over all starts. `untold` are units whose events do not say it."""

    units: int = 0
    untold: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    site_requests: int = 0
    worker_seconds: float = 0.0  # of all workers, idle or not, in the starts that have ended
    starts_untold: int = 0  # whose number of workers is not known


@dataclass
class Progress:
    """The last start of a run, and what all of them took. Steps are in their order."""

    starts: int = 0
    first: float | None = None  # when the first event was
    last: float | None = None  # and the last one
    start: Start | None = None
    end: End | None = None
    steps: dict[str, Step] = field(default_factory=dict)
    at: str = ""  # the step or the shuffle at work
    at_since: float = 0.0
    failed: list[FailedUnit] = field(default_factory=list)
    failed_count: int = 0
    spent: Spent = field(default_factory=Spent)
    hosts: Hosts = field(default_factory=Hosts)

    def hear(self, events: Iterable[dict[str, Any]]) -> None:
        """Take events in, as `jobs.events.Tail` gives them."""
        for event in events:
            if event["event"] == "run_started":
                self._begin(event)
            elif self.start is not None and self.end is None:
                self._follow(event)
            self.first = event["time"] if self.first is None else self.first
            self.last = event["time"]

    def worker_seconds(self) -> float:
        """Of all workers, idle or not, over all starts, to the last event of each."""
        return self.spent.worker_seconds + self._of_this_start()

    def _of_this_start(self) -> float:
        if self.start is None or self.start.workers is None:
            return 0.0
        until = self.end.at if self.end is not None else (self.last or self.start.at)
        return max(0.0, until - self.start.at) * self.start.workers

    def _begin(self, event: dict[str, Any]) -> None:
        self.spent.worker_seconds += self._of_this_start()
        workers = count_of(event.get("workers")) or None
        self.spent.starts_untold += workers is None
        stages = tuple(filter(None, map(text_of, list_of(event.get("stages"))[:MOST_STEPS])))
        self.start = Start(
            event["time"],
            text_of(event.get("config")),
            workers,
            {name: value for name, value in values_of(event.get("process")).items() if isinstance(value, str | int)},
            stages,
        )
        self.starts += 1
        self.end, self.at = None, ""
        self.steps, self.failed, self.failed_count = {}, [], 0

    def _follow(self, event: dict[str, Any]) -> None:
        kind, name = event["event"], text_of(event.get("stage") or event.get("step"))
        if kind in ("stage_started", "shuffle_started"):
            self.at, self.at_since = name, event["time"]
        elif kind in ("stage_done", "shuffle_done"):
            self.at = ""
        if kind == "stage_started":
            self._begin_step(name, event)
        elif kind in ("run_done", "run_stopped"):
            self._conclude(event, stopped=kind == "run_stopped")
        elif kind == "unit_failed":
            self._fail(name, event)
        elif name in self.steps and kind == "unit_done":
            self.steps[name].unit_done(event)
            self._spend(event)
            self.hosts.add(event)
        elif name in self.steps and kind == "stage_done":
            self.steps[name].end(event)

    def _begin_step(self, name: str, event: dict[str, Any]) -> None:
        again = self.steps.pop(name, None)
        if again is not None and again.failed:  # its units are tried once more
            self.failed = [unit for unit in self.failed if unit.stage != name]
            self.failed_count -= again.failed
        if len(self.steps) < MOST_STEPS:
            self.steps[name] = begun(event)

    def _fail(self, name: str, event: dict[str, Any]) -> None:
        if name in self.steps:
            self.steps[name].unit_failed(event)
        self.failed_count += 1
        if len(self.failed) < FAILED_HELD:
            reason = text_of(event.get("reason")).strip().split("\n")[0]
            self.failed.append(FailedUnit(name, text_of(event.get("unit")), reason))

    def _spend(self, event: dict[str, Any]) -> None:
        took = seconds_told(event)
        self.spent.units += 1
        self.spent.untold += took is None
        self.spent.seconds += took[0] if took is not None else 0.0
        self.spent.cpu_seconds += took[1] if took is not None else 0.0
        self.spent.site_requests += count_of(event.get("requests"))

    def _conclude(self, event: dict[str, Any], stopped: bool) -> None:
        reason = " ".join(text_of(event.get("reason")).split())
        self.end = End(event["time"], count_of(event.get("exit_code", 1)), reason, stopped)
        self.at = ""
