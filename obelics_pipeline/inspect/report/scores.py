"""The distribution of each score in a run: a histogram with its thresholds, and how many documents have no score and
why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from obelics_pipeline.core.config.filtering import LanguageBounds
from obelics_pipeline.inspect.report.histogram import Histogram, histogram_of
from obelics_pipeline.inspect.report.tally import DROPPED, ELSEWHERE, KEPT, ReasonTally
from obelics_pipeline.inspect.report.thresholds import in_words, marks_of
from obelics_pipeline.inspect.run_tables.documents import score_names
from obelics_pipeline.inspect.run_tables.paragraphs import paragraph_scores
from obelics_pipeline.jobs.stages import MEETS_IMAGES

MEASURED_ONLY = "measured only: it drops nothing"
IN_CODE = "a column of your own stage, whose code says what it drops"


@dataclass(frozen=True)
class Score:
    """One score. `without` says of values that are not there: after which drop, None where nothing had dropped it."""

    name: str
    thresholds: Sequence[str]
    histogram: Histogram | None
    measured: int
    dropped: int
    median: float | None
    without: Sequence[tuple[str | None, int]]


@dataclass(frozen=True)
class Role:
    """Paragraphs of one role: how many, how many are kept, and why others are not, the most frequent first."""

    name: str
    entered: int
    kept: int
    reasons: Sequence[tuple[str, int]]


def document_scores(
    documents: pa.Table,
    thresholds: dict[str, LanguageBounds],
    everything: bool = False,
    judged: Collection[str] = (),
) -> list[Score]:
    """The scores of a run table of documents, in the order of the thresholds; columns without one last.

    `everything` was measured, of a sample: no drop is the cause that a value is not there. `judged` are the columns
    of stages that drop by their own code.
    """
    names = score_names(documents)
    ordered = [name for name in thresholds if name in names] + [name for name in names if name not in thresholds]
    scores, rows = [], _with_stage_of_reason(documents)
    for name in ordered:
        tally, without = ReasonTally(), Counter[str | None]()
        _count(rows, name, tally, without)
        if everything and without:
            without = Counter({None: without.total()})
        no_bounds = IN_CODE if name in judged else MEASURED_ONLY
        scores.append(_score(name, thresholds.get(name), tally, without, no_bounds))
    return scores


class ParagraphScores:
    """The scores and roles of paragraphs, counted a table at a time."""

    def __init__(self) -> None:
        self._tallies: dict[str, ReasonTally] = {}
        self._without: dict[str, Counter[str | None]] = {}
        self._roles: Counter[tuple[str, str | None]] = Counter()

    def add(self, paragraphs: pa.Table) -> None:
        """Count a run table of paragraphs."""
        for name in paragraph_scores(paragraphs):
            tally = self._tallies.setdefault(name, ReasonTally())
            _count(paragraphs, name, tally, self._without.setdefault(name, Counter()))
        for role, reason, n in _groups(paragraphs, ["role", "reason"]):
            self._roles[role or "", reason] += n

    def scores(self, thresholds: dict[str, LanguageBounds]) -> list[Score]:
        """In the order of the thresholds."""
        names = [name for name in thresholds if name in self._tallies]
        names += [name for name in self._tallies if name not in thresholds]
        return [_score(name, thresholds.get(name), self._tallies[name], self._without[name]) for name in names]

    def roles(self) -> list[Role]:
        """The most frequent first."""
        found = []
        for role in {role for role, _ in self._roles}:
            counts = {reason: n for (of, reason), n in self._roles.items() if of == role}
            kept = counts.pop(None, 0)
            found.append(Role(role, kept + sum(counts.values()), kept, most([(r or "", n) for r, n in counts.items()])))
        return sorted(found, key=lambda role: (-role.entered, role.name))


def most(counts: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """The highest first; equal ones by name."""
    return sorted(counts, key=lambda item: (-item[1], item[0]))


def outcomes_of(reasons: pa.ChunkedArray, name: str) -> NDArray[np.integer]:
    """By row: kept, dropped by this score, or by something else."""
    by_this = pc.fill_null(pc.equal(reasons, name), False).to_numpy()
    kept = reasons.is_null().to_numpy()
    codes: NDArray[np.integer] = np.where(kept, KEPT, np.where(by_this, DROPPED, ELSEWHERE))
    return codes


def _with_stage_of_reason(documents: pa.Table) -> pa.Table:
    """A document that lost its images is dropped by a rule that is called as the score of an earlier step is."""
    named = pc.binary_join_element_wise(documents["reason"], documents["stage"], " after ")
    reasons = pc.if_else(pc.fill_null(pc.equal(documents["stage"], MEETS_IMAGES), False), named, documents["reason"])
    return documents.set_column(documents.column_names.index("reason"), "reason", reasons)


def _count(rows: pa.Table, name: str, tally: ReasonTally, without: Counter[str | None]) -> None:
    there = rows[name].is_valid()
    measured = rows.select([name, "reason"]).filter(there)
    tally.add(measured[name].to_numpy(), outcomes_of(measured["reason"], name))
    for reason, n in _groups(rows.select(["reason"]).filter(pc.invert(there)), ["reason"]):
        without[reason] += n


def _groups(rows: pa.Table, by: Sequence[str]) -> list[tuple[Any, ...]]:
    counts = rows.group_by(list(by)).aggregate([([], "count_all")])
    return list(zip(*(counts[name].to_pylist() for name in [*by, "count_all"]), strict=True))


def _score(
    name: str,
    bounds: LanguageBounds | None,
    tally: ReasonTally,
    without: Counter[str | None],
    no_bounds: str = MEASURED_ONLY,
) -> Score:
    return Score(
        name=name,
        thresholds=in_words(bounds) if bounds is not None else [no_bounds],
        histogram=histogram_of(tally, marks_of(bounds) if bounds is not None else ()),
        measured=tally.total,
        dropped=int(tally.sorted()[1][:, DROPPED].sum()),
        median=tally.quantile(0.5),
        without=sorted(without.items(), key=lambda item: (item[0] is not None, -item[1], item[0] or "")),
    )
