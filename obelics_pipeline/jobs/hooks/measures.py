"""The events of a run as measurements: what they are called, and which of them follow from an event."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from obelics_pipeline.jobs.events import Event
from obelics_pipeline.jobs.hooks.hook import Message
from obelics_pipeline.jobs.hooks.stage_counts import how_ended, nouns_of
from obelics_pipeline.jobs.stages import stage_of
from obelics_pipeline.stages.stage import Stage


class Instrument(NamedTuple):
    """What is measured: a counter only grows, a gauge is what it is now, a histogram counts by size."""

    kind: Literal["counter", "gauge", "histogram"]
    unit: str  # of the Unified Code for Units of Measure, as OpenTelemetry wants it
    about: str


INSTRUMENTS: Mapping[str, Instrument] = {
    "obelics.units": Instrument("counter", "{unit}", "Units that were done, or failed, since the command began."),
    "obelics.unit.duration": Instrument("histogram", "s", "Seconds that units took."),
    "obelics.unit.cpu": Instrument("counter", "s", "CPU seconds of units that were done."),
    "obelics.step.units": Instrument("gauge", "{unit}", "Units of the last begun step: all, done, failed."),
    "obelics.input": Instrument("counter", "By", "Bytes of WARC files that units read."),
    "obelics.input.rows": Instrument("counter", "{row}", "Rows of tables that units read."),
    "obelics.records": Instrument("counter", "{record}", "Records by verdict and reason."),
    "obelics.documents": Instrument("counter", "{document}", "Documents by stage, verdict and reason."),
    "obelics.images": Instrument("counter", "{image}", "Images in documents by stage, verdict and reason."),
    "obelics.urls": Instrument("counter", "{url}", "Image URLs by verdict and reason."),
    "obelics.counted": Instrument("counter", "1", "What stages of your own count, by noun, verdict and reason."),
    "obelics.site.requests": Instrument("counter", "{request}", "Requests for images."),
    "obelics.runs.ended": Instrument("counter", "{run}", "1 once the run has ended, by how: done, failed, stopped."),
}
INPUTS = {"bytes": "obelics.input", "rows": "obelics.input.rows"}

Measure = tuple[str, float, dict[str, str]]  # instrument, value, attributes


class Measures:
    """Makes measurements of the events of a run. What an earlier start did is in the gauge of the step alone."""

    def __init__(self, stages: Sequence[Stage]) -> None:
        self._stages = stages
        self._step: dict[str, int] = {}  # units of the step at hand: all, done, failed

    def __call__(self, event: Event) -> Sequence[Message]:
        """What goes to the collector about an event."""
        measures = list(self._of(event))
        said: list[Message] = [{"says": "counts", "measures": measures}] if measures else []
        if event["event"] in ("run_done", "run_stopped"):
            said.append({"says": "ended", "how": how_ended(event)})
        return said

    def _of(self, event: Event) -> Iterator[Measure]:
        kind, step = event["event"], str(event.get("stage", ""))
        where = {"stage": stage_of(self._stages, step), "step": step}
        if kind == "stage_started":
            self._step = {"all": event["units"], "done": event["done"], "failed": 0}
        elif kind == "unit_done":
            self._step["done"] = self._step.get("done", 0) + 1
            yield "obelics.units", 1, where | {"outcome": "done"}
            yield from self._took(event, where)
            for noun in nouns_of(self._stages, step):
                yield from _of_ledger(noun, event["ledgers"].get(noun, {}), where["stage"])
        elif kind == "unit_failed":
            self._step["failed"] = self._step.get("failed", 0) + 1
            yield "obelics.units", 1, where | {"outcome": "failed"}
        elif kind in ("run_done", "run_stopped"):
            yield "obelics.runs.ended", 1, {"how": how_ended(event)}
        if kind in ("stage_started", "unit_done", "unit_failed"):
            for state, n in self._step.items():
                yield "obelics.step.units", n, where | {"state": state}

    def _took(self, event: Event, where: dict[str, str]) -> Iterator[Measure]:
        for name, key in (("duration", "seconds"), ("cpu", "cpu_seconds")):
            if key in event:
                yield f"obelics.unit.{name}", event[key], where
        for noun, n in event.get("input", {}).items():
            if noun in INPUTS:
                yield INPUTS[noun], n, where
        if event.get("requests"):
            yield "obelics.site.requests", event["requests"], where


def _of_ledger(noun: str, ledger: Mapping[str, Any], stage: str) -> Iterator[Measure]:
    name = f"obelics.{noun}"
    where = {"stage": stage} if name in INSTRUMENTS else {"stage": stage, "noun": noun}
    name = name if name in INSTRUMENTS else "obelics.counted"
    if ledger.get("kept"):
        yield name, ledger["kept"], where | {"verdict": "kept"}
    for verdict in ("dropped", "failed"):
        for reason, n in ledger.get(verdict, {}).items():
            yield name, n, where | {"verdict": verdict, "reason": reason}
