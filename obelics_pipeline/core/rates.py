"""How often something holds, and how sure that is: shares, thresholds of a score, and how well a score parts two kinds.

Scores are numbers that are higher for what is looked for, infinite ones among them, but not NaN. Above a threshold is
what is greater, not what is equal. Shares and areas have no unit and go from 0 to 1.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import nan, sqrt

Z_95 = 1.96  # standard deviations to either side that hold 95 % of a normal distribution
_NEARLY = 1e-9  # of a document: 0.29 * 100 is a little less than 29


@dataclass(frozen=True, slots=True)
class Share:
    """`found` of `of` things. Raises ValueError where these are more than there are, or fewer than none."""

    found: int
    of: int

    def __post_init__(self) -> None:
        if not 0 <= self.found <= self.of:
            raise ValueError(f"{self.found} of {self.of} is no share")

    @property
    def value(self) -> float:
        """From 0 to 1; NaN of nothing."""
        return self.found / self.of if self.of else nan

    def interval(self, z: float = Z_95) -> tuple[float, float]:
        """Wilson's score interval (J. Am. Stat. Assoc. 22, 1927, p. 209), for so many standard deviations.

        Unlike the usual one it stays within 0 and 1, and says something where nothing or everything was found. Of
        nothing it is all there is, 0 to 1.
        """
        if not self.of:
            return 0.0, 1.0
        p, n = self.value, self.of
        middle, spread = p + z * z / (2 * n), z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        low, high = (middle - spread) / (1 + z * z / n), (middle + spread) / (1 + z * z / n)
        return min(p, max(0.0, low)), max(p, min(1.0, high))  # p itself where rounding would leave it out


def share_above(scores: Iterable[float], over: float) -> Share:
    """How many of these scores are above a threshold. Of what is looked for this is the recall."""
    above = [score > over for score in scores]
    return Share(sum(above), len(above))


def threshold(honest: Iterable[float], share: float) -> float:
    """The smallest of these scores that at most such a share of them is above. Of all of them, the smallest.

    Raises ValueError for no scores, and for a share that is not between 0 and 1.
    """
    ranked = sorted(honest, reverse=True)
    if not ranked or not 0 <= share <= 1:
        raise ValueError(f"there is no threshold for a share of {share} of {len(ranked)} scores")
    return ranked[min(int(share * len(ranked) + _NEARLY), len(ranked) - 1)]


def auc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """The area under the ROC curve: the chance that one of these is above one of those, equal ones counting half.

    Hanley and McNeil, Radiology 143, 1982, p. 29. Raises ValueError where either has no scores.
    """
    if not positive or not negative:
        raise ValueError(f"{len(positive)} scores cannot be compared with {len(negative)}")
    ranked = sorted(negative)
    twice = sum(bisect_left(ranked, score) + bisect_right(ranked, score) for score in positive)
    return twice / (2 * len(positive) * len(negative))


def mean(values: Iterable[float]) -> float:
    """Of any number of values; of none NaN."""
    found = list(values)
    return sum(found) / len(found) if found else nan
