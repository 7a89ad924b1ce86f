"""When the step at hand will be done: by what its units read, and by their number only where nothing else is known."""

from __future__ import annotations

from dataclasses import dataclass

from obelics_pipeline.inspect.status.step import Step

UNITS = "units"


@dataclass(frozen=True)
class Ahead:
    """What is done of a step, and what is left, in `noun`; `rate` is that of a second since the step began.

    `seconds_left` count from `at`, up to which was counted what is done; None where nothing was done yet.
    """

    noun: str
    done: int
    whole: int
    rate: float | None
    seconds_left: float | None
    at: float

    @property
    def how(self) -> str:
        """In words, how the time was reckoned."""
        by = {"bytes": "by bytes of input", "urls": "by URLs", "rows": "by rows of input"}.get(self.noun)
        return by or "by the number of units, whose sizes differ"


def ahead(step: Step, at_work: int, now: float) -> Ahead:
    """What is ahead of a step. `at_work` is how much of its input units have done by now that are not committed yet."""
    nouns = [noun for noun, n in step.input.items() if n]
    if len(nouns) == 1:
        noun = nouns[0]
        whole = step.input[noun]
        before, fresh = step.input_done[noun] - step.fresh_input[noun], step.fresh_input[noun]
    else:
        noun, whole, before, fresh, at_work = UNITS, step.units, step.done + step.failed - step.fresh, step.fresh, 0
    fresh = min(fresh + at_work, max(0, whole - before))
    at = max(now, step.changed) if at_work else step.changed
    elapsed = at - step.began
    rate = fresh / elapsed if fresh and elapsed > 0 else None
    left = max(0, whole - before - fresh)
    return Ahead(noun, before + fresh, whole, rate, left / rate if rate else None, at)
