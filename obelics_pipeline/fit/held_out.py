"""How a model does on domains that it has not seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.fit.example import Example
from obelics_pipeline.fit.gold import Truth
from obelics_pipeline.fit.score import figures
from obelics_pipeline.fit.training import fit
from obelics_pipeline.stages.extract.main_content import MIN_CONFIDENCE, MIN_PROBABILITY, decide

# Whether a page's main content is told from the rest: by which texts are kept of it, and the confidence.
_Rule = Callable[[NDArray[np.bool_], float], bool]
_RULES: dict[str, _Rule] = {
    "whole pages": lambda kept, confidence: False,
    f"probability over {MIN_PROBABILITY}": lambda kept, confidence: bool(kept.any()),
    f"and confidence from {MIN_CONFIDENCE}": lambda kept, confidence: confidence >= MIN_CONFIDENCE,
}
_COLUMNS = ("precision", "recall", "f1", "found", "avoided", "balanced")


@dataclass(frozen=True, slots=True)
class Judged:
    """A page of which something is known, as a model that has not seen its domain judges it."""

    example: Example
    truth: Truth
    kept: NDArray[np.bool_]  # by text
    confidence: float


def judge_held_out(examples: Sequence[Example], fold_of: dict[str, int]) -> Iterator[Judged]:
    """Judge each page by a model that was fitted on the pages of all other folds. `fold_of` gives a domain's fold."""
    for fold in sorted(set(fold_of.values())):
        forest = fit(example for example in examples if fold_of[example.domain] != fold)
        for example in examples:
            if example.truth is not None and fold_of[example.domain] == fold:
                kept, confidence = decide(forest.log_odds(example.features), example.characters)
                yield Judged(example, example.truth, kept, confidence)


def table(judged: Sequence[Judged]) -> Iterator[str]:
    """The figures under each rule, in percent, a line each. Where a rule says no, the page is kept whole."""
    width = max(map(len, _RULES))
    yield " " * width + "".join(name.rjust(11) for name in _COLUMNS)
    for name, rule in _RULES.items():
        found = figures((page.truth, _text(page, rule)) for page in judged)
        yield name.ljust(width) + "".join(f"{100 * getattr(found, column):11.1f}" for column in _COLUMNS)


def _text(page: Judged, rule: _Rule) -> str:
    if not rule(page.kept, page.confidence):
        return page.example.whole
    return "\n\n".join(page.example.texts[number] for number in np.flatnonzero(page.kept).tolist())
