"""The events of a run as OpenLineage's: a START of the run and of each stage, and how it ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from obelics_pipeline.core.counted import counted
from obelics_pipeline.core.errors import Stopped
from obelics_pipeline.jobs.events import YEAR_3000, Event
from obelics_pipeline.jobs.hooks.hook import Message
from obelics_pipeline.jobs.open_lineage import dataset, run_and_job, run_event, run_id
from obelics_pipeline.jobs.stages import stage_of
from obelics_pipeline.stages.stage import Stage

KILLED = "the run was killed; a later run of the same command goes on"
BEGUN, DONE = ("stage_started", "shuffle_started"), ("stage_done", "shuffle_done")


@dataclass
class _Begun:
    """A run or a stage that has begun and not ended, and what was heard of it since."""

    id: str
    job: str
    about: dict[str, Any]
    inputs: Sequence[Message]
    output: Message
    step: str = ""  # that is at work
    failed: int = 0  # units
    done_at: float = 0.0  # its last step


class Lineage:
    """Makes OpenLineage events of those of a run's log. A stage ends where the next one begins, or its run ends.

    A run is one start of the command. Its id follows from the folder and the time of the start, so that a later start
    can say of an earlier one, from the log alone, that it was killed. `code` is the identity of each stage's code.
    """

    def __init__(self, output: str, config: str, stages: Sequence[Stage], code: Mapping[str, str]) -> None:
        self._output, self._config, self._stages, self._code = output, config, stages, code
        self._run: _Begun | None = None
        self._stage: _Begun | None = None
        self._times: Counter[str] = Counter()  # how often each stage has begun in this run
        self._before: Sequence[Message] = ()  # what the next stage reads
        self._heard_at = 0.0

    def __call__(self, event: Event) -> Sequence[Message]:
        """The OpenLineage events that follow from the next event of the log. Those of other forms are passed by."""
        kind, seconds = event["event"], event["time"]
        if not 0 <= seconds < YEAR_3000:
            return []
        said: list[Message] = []
        if kind == "run_started":
            said = [*self._end_run("ABORT", self._heard_at, KILLED), *self._begin_run(event)]
        elif kind in BEGUN:
            said = self._begin_step(_step_of(event), seconds)
        elif kind in DONE:
            self._end_step(event)
        elif kind == "run_done":
            failed = event.get("exit_code") != 0
            said = self._end_run("FAIL" if failed else "COMPLETE", seconds, "some units failed" if failed else "")
        elif kind == "run_stopped":
            goes_on = event.get("exit_code") == Stopped.exit_code
            said = self._end_run("ABORT" if goes_on else "FAIL", seconds, str(event.get("reason")))
        self._heard_at = seconds
        return said

    def _begin_run(self, event: Event) -> list[Message]:
        seconds, sha256 = event["time"], str(event.get("config_sha256"))
        about = {"config": self._config, "config_sha256": sha256, "output": self._output}
        given = event.get("inputs")
        inputs = [dataset(f"input/{name}") for name in given] if isinstance(given, list) else []
        self._run = _Begun(
            run_id(self._output, seconds), self._config, about, inputs, dataset(f"{self._output}/shards")
        )
        self._times, self._before = Counter(), inputs
        return [self._event("START", seconds, self._run)]

    def _begin_step(self, step: str, seconds: float) -> list[Message]:
        if self._run is None:
            return []
        name, said = stage_of(self._stages, step), []
        job = f"{self._config}.{name}"
        if self._stage is None or self._stage.job != job:
            said = self._end_stage("ABORT", seconds, f"{self._stage.step} is done again" if self._stage else "")
            self._times[name] += 1
            about = self._run.about | ({"code": self._code[name]} if name in self._code else {})
            id_of_stage = run_id(self._run.id, name, self._times[name])
            output = dataset(f"{self._output}/stage/{name}")
            self._stage = _Begun(id_of_stage, job, about, self._before, output)
            said.append(self._event("START", seconds, self._stage))
        self._stage.step = step
        return said

    def _end_step(self, event: Event) -> None:
        if (stage := self._stage) is not None:
            failed, ledgers = event.get("failed", 0), event.get("ledgers")
            stage.step, stage.done_at = "", event["time"]
            stage.failed += failed if isinstance(failed, int) else 0
            if isinstance(ledgers, dict) and ledgers:
                stage.about = stage.about | {"ledgers": ledgers}

    def _end_stage(self, otherwise: str, seconds: float, why: str) -> list[Message]:
        """The end of the stage at hand: that of its last step, or `otherwise` where one is at work."""
        stage, self._stage = self._stage, None
        if stage is None:
            return []
        if stage.step:
            return [self._event(otherwise, seconds, stage, why)]
        self._before = [stage.output]
        if stage.failed:
            return [self._event("FAIL", stage.done_at, stage, f"{counted(stage.failed, 'units')} failed")]
        return [self._event("COMPLETE", stage.done_at, stage)]

    def _end_run(self, kind: str, seconds: float, why: str) -> list[Message]:
        if self._run is None:
            return []
        said = self._end_stage(kind, seconds, why)
        said.append(self._event(kind, seconds, self._run, why))
        self._run = None
        return said

    def _event(self, kind: str, seconds: float, begun: _Begun, error: str = "") -> Message:
        run = self._run if begun is not self._run else None
        parent = None if run is None else run_and_job(run.id, run.job, {})
        parts = run_and_job(begun.id, begun.job, begun.about, parent, error=error)
        outputs = [begun.output] if kind == "COMPLETE" else []
        return run_event(kind, seconds, parts, begun.inputs, outputs)


def _step_of(event: Event) -> str:
    return str(event.get("stage") or event.get("step"))
