"""The ledgers of each stage, as an experiment tracker has them: numbers by name, the stage as their step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from obelics_pipeline.jobs.events import Event
from obelics_pipeline.jobs.hooks.hook import Message
from obelics_pipeline.jobs.stages import names_of, stage_of
from obelics_pipeline.stages.stage import Stage

ENDS = {0: "done", 1: "failed"}  # exit code of a run -> how it ended; any other was stopped, and may go on


class StageCounts:
    """Makes of events the start, the counts of a stage with its number in the order of a run, the end."""

    def __init__(self, stages: Sequence[Stage]) -> None:
        self._stages = stages

    def __call__(self, event: Event) -> Sequence[Message]:
        """What goes to a tracker about an event."""
        kind = event["event"]
        if kind == "run_started":
            return [{"says": "started"}]
        if kind == "stage_done" and (counts := self._counts(event)):
            number = names_of(self._stages).index(stage_of(self._stages, event["stage"])) + 1
            return [{"says": "counts", "stage": number, "counts": counts}]
        if kind in ("run_done", "run_stopped"):
            return [{"says": "ended", "how": how_ended(event)}]
        return []

    def _counts(self, event: Event) -> dict[str, int]:
        """The numbers of a step's ledgers, by name, where its stage counts by them."""
        nouns, ledgers = nouns_of(self._stages, event["stage"]), event.get("ledgers", {})
        numbers = (_numbers(noun, ledgers[noun]) for noun in nouns if noun in ledgers)
        return {name: count for found in numbers for name, count in found.items()}


def nouns_of(stages: Sequence[Stage], step: str) -> Sequence[str]:
    """The nouns that a stage counts in a step; what other steps count of them is counted elsewhere."""
    return next((stage.ledgers[step] for stage in stages if step in stage.ledgers), ())


def how_ended(event: Event) -> str:
    """How a run ended, by the last event of its start: done, failed or stopped."""
    return ENDS.get(event.get("exit_code", 1), "stopped")


def _numbers(noun: str, ledger: dict[str, Any]) -> dict[str, int]:
    """The numbers of a ledger, each by a name with slashes, as trackers group them."""
    found = {f"{noun}/{key}": ledger[key] for key in ("in", "kept")}
    return found | {
        f"{noun}/{key}/{reason}": count for key in ("dropped", "failed") for reason, count in ledger[key].items()
    }
