"""What moved thresholds would leave, at once: counted on what is measured, estimated where a run must decide again.

Whole documents are decided here as a run decides them. What a document that would newly be kept meets afterwards
(duplicates, its images) is not known: it counts as much as those that came as far have been kept. A dry run counts it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.inspect.run_tables.documents import BYTES_PER_TOKEN
from obelics_pipeline.inspect.tune.documents import Documents, Mask, Numbers
from obelics_pipeline.inspect.tune.rules import TunedRule, document_rules, fails, other_language
from obelics_pipeline.inspect.tune.tallies import tallies
from obelics_pipeline.jobs.stages import MEETS_IMAGES, STAGES
from obelics_pipeline.stages.extract.measure import LANGUAGE

NO_TEXT, TOO_FEW_OR_MANY = "no_text", "image_count"  # reasons of documents by what is left of them
AGAIN = [stage.name for stage in STAGES if stage.decides_again]  # tries the rules of documents once more


@dataclass(frozen=True)
class Contents:
    """What is left of each document by rules of paragraphs and images: bytes of text, and images that pass them."""

    bytes: NDArray[np.int64]
    images: NDArray[np.int64]


@dataclass(frozen=True)
class Counts:
    """How much is kept. Not whole where it is estimated."""

    documents: float
    images: float
    tokens: float

    def to_json(self) -> dict[str, float]:
        """Its numbers."""
        return dict(vars(self))


@dataclass(frozen=True)
class RuleCounts:
    """What one rule does: all that it would drop by itself, what it drops first, and what no other rule drops."""

    name: str
    place: str
    measured: int  # documents that have its score
    drops: int
    first: int
    alone: int


@dataclass(frozen=True)
class Estimate:
    """`keeps` is how much of each document is kept: 1, 0, or between where it is not known; `reasons` why it is not."""

    keeps: Numbers
    reasons: Sequence[str | None]
    kept: Counts
    rules: Sequence[RuleCounts]
    failing: NDArray[np.bool_]  # which documents each rule would drop, a row for each of `rules`
    unknown: int  # documents that are between

    @property
    def overlap(self) -> NDArray[np.int64]:
        """How many documents two rules would both drop, by their places in `rules`."""
        some = self.failing.astype(np.float32)  # sums below 2**24 are exact
        found: NDArray[np.int64] = (some @ some.T).astype(np.int64)
        return found


def estimate(
    documents: Documents, config: RunConfig, contents: Contents | None = None, more: Sequence[TunedRule] = ()
) -> Estimate:
    """What a config would leave of documents that another config has decided.

    `contents` are those of the documents by `config`, None where no rule of paragraphs or images differs.
    `more` are rules that no config has, applied last.
    """
    rules = [*document_rules(config), *more]
    failing = np.array([fails(rule, documents) for rule in rules]).reshape(len(rules), len(documents))
    names = [rule.name for rule in rules]
    tried = {(rule.name, rule.stage) for rule in rules} | {(LANGUAGE, STAGES[0].name), (TOO_FEW_OR_MANY, MEETS_IMAGES)}
    known = ~_tried_again(documents, tried) & ~documents.kept
    dropped_by = np.full(len(documents), -1, np.int32)
    for place in reversed(range(len(rules))):
        dropped_by[failing[place]] = place
    foreign = other_language(config, documents)
    left = Contents(documents.bytes, documents.images) if contents is None else contents
    empty = (left.bytes == 0) & (documents.bytes > 0)
    few = (left.images < config.images.min_per_document) | (left.images > config.images.max_per_document)
    lacking = few & ((documents.stages >= documents.order.index(MEETS_IMAGES)) | (contents is not None))
    gone = known | foreign | (dropped_by >= 0) | empty | lacking
    keeps = np.where(gone, 0.0, np.where(documents.kept, 1.0, _survival(documents)))
    reasons = _reasons(documents, known, foreign, dropped_by, names, empty, lacking)
    return Estimate(
        keeps,
        reasons,
        _counts(keeps, left),
        list(_rule_counts(rules, failing, documents)),
        failing,
        int(np.count_nonzero((keeps > 0) & (keeps < 1))),
    )


def _tried_again(documents: Documents, rules: set[tuple[str, str]]) -> Mask:
    """Documents that were dropped by a rule, by name and stage, that is tried again; all others stay dropped.

    What repeats over the corpus may cost a document so much that its filters drop it in a later stage.
    """
    found = np.zeros(len(documents), bool)
    for name, stage in rules:
        stages = [documents.order.index(of) for of in (stage, *AGAIN)]
        found |= documents.reasons.mask(name) & np.isin(documents.stages, stages)
    return found


def _survival(documents: Documents) -> Numbers:
    """Of the documents that passed the stage that dropped a document, the share that was kept in the end."""
    kept = np.count_nonzero(documents.kept)
    passed = np.array([np.count_nonzero(documents.stages > stage) for stage in range(len(documents.order) + 1)])
    shares = np.divide(kept, passed, out=np.ones(len(passed)), where=passed > 0)
    found: Numbers = np.minimum(shares[documents.stages], 1.0)
    return found


def _reasons(
    documents: Documents,
    known: Mask,
    foreign: Mask,
    dropped_by: NDArray[np.int32],
    names: Sequence[str],
    empty: Mask,
    lacking: Mask,
) -> list[str | None]:
    """The first reason that holds, in the order of the stages."""
    table = np.array([*names, None], object)
    found = table[dropped_by]
    found[lacking & (dropped_by < 0)] = TOO_FEW_OR_MANY
    found[empty] = NO_TEXT
    found[foreign] = LANGUAGE
    before = np.array([*documents.reasons.names, None], object)[documents.reasons.codes]
    found[known] = before[known]
    return list(found)


def _counts(keeps: Numbers, left: Contents) -> Counts:
    return Counts(float(keeps.sum()), float(keeps @ left.images), float(keeps @ left.bytes) / BYTES_PER_TOKEN)


def _rule_counts(rules: Sequence[TunedRule], failing: NDArray[np.bool_], documents: Documents) -> Iterator[RuleCounts]:
    for rule, tally in zip(rules, tallies(list(failing)), strict=True):
        scores = documents.scores.get(rule.name)
        measured = 0 if scores is None else int(np.count_nonzero(~np.isnan(scores)))
        yield RuleCounts(rule.name, rule.place, measured, tally.drops, tally.first, tally.alone)
