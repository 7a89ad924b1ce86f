"""What kind of page a page is, by a forest with trees for each kind."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.models.forest import SCALE, Forest

MODEL = Path(__file__).parent / "page_type.json"

# The page types of WCXB. A collection has a shop's products; a listing leads to pages of any other sort.
Kind = Literal["article", "forum", "product", "collection", "listing", "documentation", "service"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class PageType:
    """One of `KINDS`, the likeliest, and its probability in 0 … 1."""

    kind: Kind
    probability: float

    def to_json(self) -> dict[str, str | float]:
        """For a document's general metadata."""
        return {"page_type": self.kind, "page_type_probability": self.probability}


def judge(numbers: NDArray[np.float32], forest: Forest) -> PageType:
    """The likeliest kind of the page of which these are the numbers, shape (features,). Of equal ones, the first.

    In the forest, the trees of the kinds take turns.
    """
    log_odds = forest.in_turn(numbers, len(KINDS))
    best = max(log_odds)
    probability = 1 / sum(exp((odds - best) / SCALE) for odds in log_odds)
    return PageType(KINDS[log_odds.index(best)], round(probability, 3))
