"""What rules do to the same things, from which of these each would drop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from obelics_pipeline.inspect.tune.documents import Mask


@dataclass(frozen=True)
class RuleTally:
    """All that a rule would drop by itself, what it drops first, and what no other rule drops."""

    drops: int
    first: int
    alone: int


def tallies(failing: Sequence[Mask]) -> list[RuleTally]:
    """Of each rule, in the order in which they are applied; `failing` says what each would drop."""
    found: list[RuleTally] = []
    times = np.sum(failing, axis=0) if len(failing) else np.zeros(0)
    before = np.zeros(len(times), bool)
    for fails in failing:
        counts = (fails, fails & ~before, fails & (times == 1))
        found.append(RuleTally(*(int(np.count_nonzero(mask)) for mask in counts)))
        before |= fails
    return found
