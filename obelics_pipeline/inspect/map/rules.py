"""Bounds of scores that drop a region of the map, and little else."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from obelics_pipeline.core.document import PICTURE
from obelics_pipeline.inspect.run_tables.training import SCORES as TRAINING_COLUMNS
from obelics_pipeline.models.flamingo.statistics import COLUMNS as FLAMINGO_COLUMNS
from obelics_pipeline.models.language_model.columns import COLUMNS as LANGUAGE_MODEL_COLUMNS
from obelics_pipeline.models.language_model.rubric import COLUMNS as JUDGE_COLUMNS
from obelics_pipeline.models.similarity.columns import COLUMNS as SIMILARITY_COLUMNS
from obelics_pipeline.models.unsafe_images.columns import COLUMNS as UNSAFE_COLUMNS

OF_MODELS = frozenset(
    (*FLAMINGO_COLUMNS, *LANGUAGE_MODEL_COLUMNS, *JUDGE_COLUMNS, *SIMILARITY_COLUMNS, *UNSAFE_COLUMNS)
)
BEST = 5  # rules that are shown
GAIN = 0.01  # of F1: what two bounds must be better by than each alone
PLACES = 12  # of a score that a second bound is tried at, spread over the region's values

Side = Literal["min", "max"]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Bound:
    """A bound of one score, as the config has it: inclusive."""

    score: str
    side: Side
    value: float

    def drops(self, values: NDArray[np.float64], measured: Mask) -> Mask:
        """Which documents it drops: a null never, a NaN always."""
        kept = values >= self.value if self.side == "min" else values <= self.value
        return measured & ~kept

    @property
    def override(self) -> str:
        """As `--set` takes it."""
        return f"{section_of(self.score)}.{self.score}.{self.side}={self.value!r}"


@dataclass(frozen=True)
class RegionRule:
    """One or two bounds, either of which drops a document, and what they do.

    Precision is the share of the region in what is dropped, recall the share of the region that is dropped.
    """

    bounds: tuple[Bound, ...]
    dropped: int  # documents of the region
    of_region: int
    dropped_elsewhere: int
    of_rest: int

    @property
    def precision(self) -> float:
        """0 where nothing is dropped."""
        return self.dropped / max(self.dropped + self.dropped_elsewhere, 1)

    @property
    def recall(self) -> float:
        """0 where the region is empty."""
        return self.dropped / max(self.of_region, 1)

    @property
    def rest_kept(self) -> float:
        """The share of the other documents that stays; 1 where there are none."""
        return 1 - self.dropped_elsewhere / max(self.of_rest, 1)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return 2 * self.dropped / max(self.dropped + self.dropped_elsewhere + self.of_region, 1)

    def lines(self) -> list[str]:
        """Lines of a config, one for each score: `filters.document.farm_score: {max: 0.5}`."""
        of_score: dict[str, list[str]] = {}
        for bound in self.bounds:
            key = f"{section_of(bound.score)}.{bound.score}"
            of_score.setdefault(key, []).append(f"{bound.side}: {bound.value!r}")
        return [f"{key}: {{{', '.join(sides)}}}" for key, sides in of_score.items()]


def section_of(score: str) -> str:
    """Where a config has the bounds of a score."""
    if score in TRAINING_COLUMNS:
        return "keep"  # of a plan's recipe
    if score.startswith("site_") or score.endswith("_in_site"):
        return "site.document"
    if score in OF_MODELS or score.startswith(PICTURE):
        return "score.document"
    return "filters.document"


def find_rules(scores: Mapping[str, pa.Array], region: Mask, best: int = BEST) -> list[RegionRule]:
    """The best rules by F1: of each score and side one bound, of each two of these one pair, if it is better by GAIN.

    `scores` and `region` are by document; a null score drops nothing. There are none where the region is empty, or
    everything.
    """
    if not region.any() or region.all():
        return []
    of_score = {name: _Score.of(values) for name, values in sorted(scores.items())}
    singles = [
        rule
        for name, score in of_score.items()
        for side in ("min", "max")
        if (rule := _single(name, side, score, region)) is not None
    ]
    rules = [*singles, *(_pairs(of_score, singles, region) if singles else ())]
    return sorted(rules, key=lambda rule: (-rule.f1, len(rule.bounds), rule.lines()))[:best]


def sites_of(sites: Sequence[str], region: Mask, most: int = 20) -> list[tuple[str, int, int]]:
    """The sites with most documents in the region: the site, how many are in it, and how many there are in all."""
    everywhere = Counter(sites)
    within = Counter(site for site, chosen in zip(sites, region.tolist(), strict=True) if chosen)
    ordered = sorted(within.items(), key=lambda item: (-item[1], item[0]))
    return [(site, count, everywhere[site]) for site, count in ordered[:most]]


@dataclass(frozen=True)
class _Score:
    values: NDArray[np.float64]
    measured: Mask

    @classmethod
    def of(cls, values: pa.Array | pa.ChunkedArray) -> _Score:
        measured = np.asarray(values.is_valid())
        return cls(np.asarray(values.fill_null(0.0), np.float64), measured)


def _rule(bounds: tuple[Bound, ...], drops: Mask, region: Mask) -> RegionRule:
    total, inside = int(drops.sum()), int((drops & region).sum())
    size = int(region.sum())
    return RegionRule(bounds, inside, size, total - inside, len(region) - size)


def _single(name: str, side: Side, score: _Score, region: Mask) -> RegionRule | None:
    """The bound with the best F1; None where the score tells none of the documents apart."""
    places = _places(score, side, region)
    if not len(places.bounds):
        return None
    f1 = 2 * places.inside / (places.inside + places.outside + region.sum())
    bound = Bound(name, side, places.bound(int(f1.argmax())))
    return _rule((bound,), bound.drops(score.values, score.measured), region)


@dataclass(frozen=True)
class _Places:
    """Where a bound may be: between which two values, the one that is kept first, and what is dropped then."""

    side: Side
    bounds: NDArray[np.float64]  # shape (places, 2): the last value that is kept, the first that is dropped
    inside: NDArray[np.int64]  # documents of the region that are dropped
    outside: NDArray[np.int64]

    def bound(self, place: int) -> float:
        """The roundest number that lies between."""
        kept, dropped = self.bounds[place].tolist()
        return round_between(kept, dropped)


def _places(score: _Score, side: Side, region: Mask) -> _Places:
    """Every place between two values that occur. A NaN is dropped wherever the bound is."""
    finite = score.measured & np.isfinite(score.values)
    never = score.measured & np.isnan(score.values)
    values = score.values[finite] if side == "min" else -score.values[finite]
    order = np.argsort(values, kind="stable")
    values, within = values[order], region[finite][order]
    ends = np.flatnonzero(values[1:] != values[:-1])  # the last that is dropped, by place
    inside = np.cumsum(within)[ends] + int((never & region).sum())
    outside = np.cumsum(~within)[ends] + int((never & ~region).sum())
    between = np.stack([values[ends + 1], values[ends]], axis=1) if len(ends) else np.zeros((0, 2))
    return _Places(side, between if side == "min" else -between, inside.astype(np.int64), outside.astype(np.int64))


def round_between(kept: float, dropped: float) -> float:
    """The number with the fewest digits from `kept`, which it may be, towards `dropped`, which it may not be."""
    low, high = min(kept, dropped), max(kept, dropped)
    for digits in range(-math.ceil(math.log10(max(abs(low), abs(high), 1))), 18):
        middle = round((low + high) / 2, digits)
        step = 10.0**-digits
        for number in (middle, round(middle - step, digits), round(middle + step, digits)):
            if low <= number <= high and number != dropped:
                return number + 0.0  # no -0.0
    return kept


def _pairs(of_score: Mapping[str, _Score], singles: Sequence[RegionRule], region: Mask) -> Iterator[RegionRule]:
    """The best pair of bounds for each two sides, among some positions of each."""
    f1_of = {(rule.bounds[0].score, rule.bounds[0].side): rule.f1 for rule in singles}
    candidates: list[Bound] = []
    for rule in singles:
        (bound,) = rule.bounds
        candidates += _candidates(bound, of_score[bound.score], region)
    drops = np.array([b.drops(of_score[b.score].values, of_score[b.score].measured) for b in candidates], np.float32)
    inside, outside = (_either(drops[:, which]) for which in (region, ~region))
    f1 = 2 * inside / np.maximum(inside + outside + region.sum(), 1)
    groups: dict[tuple[str, Side], list[int]] = {}
    for i, bound in enumerate(candidates):
        groups.setdefault((bound.score, bound.side), []).append(i)
    keys = list(groups)
    for a, first in enumerate(keys):
        for second in keys[a + 1 :]:
            block = f1[np.ix_(groups[first], groups[second])]
            i, j = divmod(int(block.argmax()), len(groups[second]))
            pair = (candidates[groups[first][i]], candidates[groups[second][j]])
            if block[i, j] > max(f1_of[first], f1_of[second]) + GAIN and _possible(pair):
                of = [bound.drops(of_score[bound.score].values, of_score[bound.score].measured) for bound in pair]
                yield _rule(pair, of[0] | of[1], region)


def _candidates(best: Bound, score: _Score, region: Mask) -> list[Bound]:
    """The best bound of a side, and others that drop from little of the region to all of it that it can."""
    places = _places(score, best.side, region)
    wanted = np.linspace(0, int(places.inside[-1]), PLACES + 2)[1:-1]
    at = np.unique(np.searchsorted(places.inside, wanted))
    found = [Bound(best.score, best.side, places.bound(int(i))) for i in at if i < len(places.bounds)]
    return list(dict.fromkeys([best, *found]))


def _either(drops: NDArray[np.float32]) -> NDArray[np.float32]:
    """How many documents the one or the other bound drops, for each two."""
    both = drops @ drops.T
    alone = np.diagonal(both)
    found: NDArray[np.float32] = alone[:, None] + alone[None, :] - both
    return found


def _possible(pair: tuple[Bound, Bound]) -> bool:
    """Whether a score can meet both: the config refuses others."""
    values = {bound.side: bound.value for bound in pair}
    return pair[0].score != pair[1].score or values["min"] <= values["max"]
