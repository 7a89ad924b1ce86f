"""Where a training is."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Place:
    """`step` is the last that was done, 0 before the first; `cursor` the position in the order of rows that the next
    one begins at; `clipped` how many steps' gradients were cut, `skipped` how many updates were left out; `rate` and
    `decay` those of the last step."""

    attempt: int = 1
    step: int = 0
    cursor: int = 0
    clipped: int = 0
    skipped: int = 0
    rate: float = 0.0
    decay: float = 0.0

    def after(self, cursor: int, rate: float, decay: float, *, clipped: bool, skipped: bool) -> Place:
        """After one more step."""
        return replace(
            self,
            step=self.step + 1,
            cursor=cursor,
            clipped=self.clipped + clipped,
            skipped=self.skipped + skipped,
            rate=rate,
            decay=decay,
        )
