"""The position of a training in its plan."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Position:
    """The position of a training after a step.

    `step`: the last finished step, 0 before the first. `cursor`: index in the order of rows at which the next step
    begins. `clipped`, `skipped`: steps so far whose gradient was clipped, or whose update was skipped. `rate`, `decay`:
    learning rate and weight decay of the last step.
    """

    attempt: int = 1
    step: int = 0
    cursor: int = 0
    clipped: int = 0
    skipped: int = 0
    rate: float = 0.0
    decay: float = 0.0

    def after(self, cursor: int, rate: float, decay: float, *, clipped: bool, skipped: bool) -> Position:
        """The position after one more step."""
        return replace(
            self,
            step=self.step + 1,
            cursor=cursor,
            clipped=self.clipped + clipped,
            skipped=self.skipped + skipped,
            rate=rate,
            decay=decay,
        )
