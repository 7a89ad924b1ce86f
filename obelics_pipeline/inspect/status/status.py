"""Where a run is, in values: what people and programs are shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.html.visible import on_a_line
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.redacted import redacted
from obelics_pipeline.core.storage import size_of
from obelics_pipeline.inspect.status.ahead import Ahead, ahead
from obelics_pipeline.inspect.status.alive import alive
from obelics_pipeline.inspect.status.hosts import Host
from obelics_pipeline.inspect.status.journals import urls_at_work
from obelics_pipeline.inspect.status.progress import FailedUnit, Progress
from obelics_pipeline.inspect.status.step import Step
from obelics_pipeline.jobs.stages import STAGES, names_of, stage_of
from obelics_pipeline.stages.assumptions import Assumptions
from obelics_pipeline.stages.stage import Stage

State = Literal["at work", "failing", "stopped", "failed", "finished"]
AT_WORK: tuple[State, ...] = ("at work", "failing")
BAD: tuple[State, ...] = ("failing", "failed")
JOURNALED = "urls"  # the input of units that note each one as it comes
FAILED_SHOWN = 20
LONGEST_NAME = 200  # characters of a name or a reason


@dataclass(frozen=True)
class StageRow:
    """A stage: its units, those of the step at hand; seconds since it began in this start. `at` is what it does now."""

    stage: str
    state: Literal["done", "at work", "stopped", "to do"]
    units: int
    done: int
    failed: int
    to_do: int
    seconds: float | None
    at: str


@dataclass(frozen=True)
class Reason:
    """Why so many were dropped, or failed, in which stage."""

    reason: str
    stage: str
    failed: bool
    count: int


@dataclass(frozen=True)
class Count:
    """A noun so far: how many came in, how many are left, and why the others went."""

    noun: str
    entered: int
    left: int
    dropped: int
    failed: int
    reasons: Sequence[Reason]  # the largest first


@dataclass(frozen=True)
class Cost:
    """What the run took so far, over all its starts; None is not known.

    Hours of CPU are those of units. Hours of workers, idle or not, are what is paid for: `dollars` for them alone.
    """

    cpu_hours: float | None
    units_untold: int  # whose CPU hours are not known
    worker_hours: float | None
    site_requests: int
    dollars: float | None
    vcpu_hour: float


@dataclass(frozen=True)
class Status:
    """A run as its folder tells it. Times are seconds since 1970; `why` says what the state follows from."""

    folder: str
    state: State
    why: str
    now: float
    config: str
    starts: int
    workers: int | None
    begun: float | None  # the last start
    last_event: float | None
    exit_code: int | None  # of the last start, where it has ended
    stages: Sequence[StageRow]
    step: str  # at hand, with what is ahead of it
    ahead: Ahead | None
    not_reckoned: Sequence[str]  # the stages behind it
    counts: Sequence[Count]
    hosts: Sequence[Host]
    failed_units: int
    failed: Sequence[FailedUnit]  # the first of them
    cost: Cost

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to come."""
        return self.state not in AT_WORK

    @property
    def code(self) -> int:
        """The exit code of the command: 1 where something failed."""
        return 1 if self.state in BAD else 0

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON values, with what was reckoned."""
        found = asdict(self)
        if self.ahead is not None:
            found["ahead"] |= {"how": self.ahead.how}
        return found


def status_of(
    folder: RunFolder, path: str, progress: Progress, known: Sequence[Stage], price: Assumptions, now: float
) -> Status:
    """What is known of a run: from the events of its log so far, and from what tells whether it is at work.

    `known` are its stages. Raises OSError and Stopped where a store does not answer.
    """
    state, why = _state(folder, progress, now)
    rows = _rows(progress, known, state)
    step = progress.steps.get(progress.at) if state in AT_WORK else None
    behind = [row.stage for row in rows if row.state == "to do"]
    counts = [_count(noun, of) for noun, of in _by_noun(progress, known).items()]
    start, end = progress.start, progress.end
    return Status(
        folder=_shown(path),
        state=state,
        why=_shown(why),
        now=now,
        config=_shown(start.config if start else str(folder.noted().get("config", "unknown"))),
        starts=progress.starts,
        workers=start.workers if start else None,
        begun=start.at if start else None,
        last_event=progress.last,
        exit_code=end.exit_code if end else None,
        stages=rows,
        step=_shown(progress.at) if state in AT_WORK else "",
        ahead=ahead(step, _at_work(folder, step), now) if step is not None and step.to_do else None,
        not_reckoned=behind,
        counts=counts,
        hosts=[Host(_shown(h.host), h.requests, h.span_seconds, h.request_seconds) for h in progress.hosts.slowest()],
        failed_units=progress.failed_count,
        failed=[FailedUnit(*map(_shown, (f.stage, f.unit, f.reason))) for f in progress.failed[:FAILED_SHOWN]],
        cost=_cost(progress, price),
    )


def _shown(text: str) -> str:
    """A text of a run's folder, which may be anybody's, on a line and without secrets."""
    return on_a_line(redacted(text), LONGEST_NAME)


def _state(folder: RunFolder, progress: Progress, now: float) -> tuple[State, str]:
    if progress.start is None:
        whole = size_of(folder.manifest) is not None
        return ("finished", "it has a manifest, and no log") if whole else ("stopped", "its log says nothing")
    end = progress.end
    if end is None:
        found = alive(folder.base, progress.start.process, progress.last, now)
        if found.at_work:
            return ("failing" if progress.failed_count else "at work"), found.why
        return "stopped", f"{found.why}; the same command goes on"
    if end.stopped:
        goes_on = end.exit_code not in (1, 2)
        return ("stopped" if goes_on else "failed"), end.reason or "its log does not say why"
    if end.exit_code:
        return "failed", "it came to its end, and something failed; the same command tries again"
    if size_of(folder.manifest) is None:
        return "finished", "the stages that were asked for are done; there are no shards yet"
    told = "every shard was read back" if folder.is_validated() else "its shards were not read back: obelics validate"
    return "finished", told


def _rows(progress: Progress, known: Sequence[Stage], state: State) -> list[StageRow]:
    by_stage: dict[str, list[Step]] = {name: [] for name in (progress.start.stages if progress.start else ())}
    for step in progress.steps.values():
        by_stage.setdefault(stage_of(known, step.name), []).append(step)
    now_at = stage_of(known, progress.at) if progress.at else ""
    begun = [name for name, steps in by_stage.items() if steps or name == now_at]
    last = now_at or (begun[-1] if begun else "")
    return [_row(name, steps, progress, last, name in begun, state) for name, steps in by_stage.items()]


def _row(name: str, steps: Sequence[Step], progress: Progress, last: str, begun: bool, state: State) -> StageRow:
    """The row of a stage: the units of the step at hand, else those of its own step, else those of its last one."""
    own = {step.name: step for step in steps}
    step = own.get(progress.at) or own.get(name) or (steps[-1] if steps else None)
    at_hand = name == last and state != "finished"
    how: Literal["done", "at work", "stopped", "to do"] = "done" if begun else "to do"
    if at_hand:
        how = "at work" if state in AT_WORK else "stopped"
        how = "done" if state == "failed" and step is not None and step.ended is not None else how
    seconds = None
    if steps:
        ends = [s.ended if s.ended is not None else s.changed for s in steps]
        since = max(*ends, progress.last or 0.0) if at_hand else max(ends)
        seconds = max(0.0, since - min(s.began for s in steps))
    return StageRow(
        stage=_shown(name),
        state=how,
        units=step.units if step else 0,
        done=step.done if step else 0,
        failed=sum(s.failed for s in steps),
        to_do=step.to_do if step else 0,
        seconds=seconds,
        at=_shown(progress.at) if at_hand and progress.at != name else "",
    )


def _by_noun(progress: Progress, known: Sequence[Stage]) -> dict[str, list[tuple[str, Ledger]]]:
    """The ledgers of each noun by the stages that count by it, in the order in which they began."""
    counts = {step: (stage.name, nouns) for stage in known for step, nouns in stage.ledgers.items()}
    found: dict[str, list[tuple[str, Ledger]]] = {}
    for step in progress.steps.values():
        stage, nouns = counts.get(step.name, (step.name, ()))
        for noun in nouns:
            if noun in step.ledgers:
                found.setdefault(noun, []).append((stage, step.ledgers[noun]))
    return found


def _count(noun: str, ledgers: Sequence[tuple[str, Ledger]]) -> Count:
    reasons = [
        Reason(_shown(reason), stage, failed, n)
        for stage, ledger in ledgers
        for failed, counts in ((False, ledger.dropped), (True, ledger.failed))
        for reason, n in counts.items()
        if n
    ]
    entered = ledgers[0][1].entered
    dropped = sum(ledger.dropped.total() for _, ledger in ledgers)
    failed = sum(ledger.failed.total() for _, ledger in ledgers)
    largest = sorted(reasons, key=lambda r: (-r.count, r.reason, r.stage))
    return Count(noun, entered, max(0, entered - dropped - failed), dropped, failed, largest)


def _at_work(folder: RunFolder, step: Step) -> int:
    """URLs that units at work have answered and not committed, where the journals of their stage can be seen."""
    if JOURNALED not in step.input or step.name not in names_of(STAGES) or not isinstance(folder.path, Path):
        return 0
    return urls_at_work(folder.path / step.name / "journal", step.began)


def _cost(progress: Progress, price: Assumptions) -> Cost:
    spent, workers = progress.spent, progress.worker_seconds() / 3600
    known = progress.starts > 0 and not spent.starts_untold
    return Cost(
        cpu_hours=spent.cpu_seconds / 3600 if spent.units > spent.untold else None,
        units_untold=spent.untold,
        worker_hours=workers if known else None,
        site_requests=spent.site_requests,
        dollars=workers * price.vcpu_hour if known else None,
        vcpu_hour=price.vcpu_hour,
    )
