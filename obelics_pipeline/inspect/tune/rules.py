"""The rules that decide on whole documents by a score, in the order in which a run applies them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.config.filtering import Bounds, LanguageBounds
from obelics_pipeline.inspect.tune.bounds import within
from obelics_pipeline.inspect.tune.documents import Documents, Mask
from obelics_pipeline.jobs.stages import STAGES


@dataclass(frozen=True)
class TunedRule:
    """One bound of one score. `place` is where the config has it, `stage` the stage of the run that applies it."""

    name: str
    stage: str
    place: str
    bounds: LanguageBounds


def document_rules(config: RunConfig) -> list[TunedRule]:
    """The rules of a config that a person can move: those of the usual stages, which alone have bounds in it."""
    return [TunedRule(s.name, stage.name, s.place, s.bounds) for stage in STAGES for s in stage.bounds(config)]


def fails(rule: TunedRule, documents: Documents) -> Mask:
    """Which documents a rule drops, whatever others do; one without a score is never dropped by it.

    Bounds by genre are not looked at: the form of a text is not among the columns.
    """
    scores = documents.scores.get(rule.name)
    if scores is None:
        return np.zeros(len(documents), bool)
    failed = ~_holds(rule.bounds, rule.name, documents)
    for language, bounds in rule.bounds.languages.items():
        of_it = documents.languages.mask(language)
        failed[of_it] = False if bounds is None else ~_holds(bounds, rule.name, documents)[of_it]
    return failed & ~np.isnan(scores)


def other_language(config: RunConfig, documents: Documents) -> Mask:
    """Which documents are in none of the languages to keep."""
    if config.language.keep == "any":
        return np.zeros(len(documents), bool)
    keep = np.array([name in config.language.keep for name in documents.languages.names] + [False])
    found: Mask = ~keep[documents.languages.codes]
    return found


def _holds(bounds: Bounds, name: str, documents: Documents) -> Mask:
    """As `filters.sampling.keeps`, of all documents at once."""
    scores = documents.scores[name]
    held = within(bounds, scores)
    if bounds.sample is not None:
        points, shares = zip(*bounds.sample, strict=True)
        held &= documents.draws(name) < np.interp(scores, points, shares)
    return held
