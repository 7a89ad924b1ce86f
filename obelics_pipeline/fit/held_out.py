"""How a model does on domains that it has not seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.fit.example import Example
from obelics_pipeline.fit.gold import Truth
from obelics_pipeline.fit.score import figures, word_f1
from obelics_pipeline.fit.training import fit
from obelics_pipeline.stages.extract.main_content import decide

_WIDTH = len("main content")
_BANDS = (0.0, 0.5, 0.7, 0.8, 0.9, 1.1)  # of the confidence
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
    """The figures of whole pages and of what is kept of them, in percent, a line each."""
    yield " " * _WIDTH + "".join(name.rjust(11) for name in _COLUMNS)
    for name, texts in (("whole pages", [page.example.whole for page in judged]), ("main content", _kept(judged))):
        found = figures(zip((page.truth for page in judged), texts, strict=True))
        yield name.ljust(_WIDTH) + "".join(f"{100 * getattr(found, column):11.1f}" for column in _COLUMNS)


def calibration(judged: Sequence[Judged]) -> Iterator[str]:
    """The confidence beside the F1 of words that it foretells, of pages whose article is known, a line a band."""
    known = [
        (page.confidence, word_f1(page.truth.article, text))
        for page, text in zip(judged, _kept(judged), strict=True)
        if page.truth.article is not None
    ]
    for low, high in pairwise(_BANDS):
        band = [pair for pair in known if low <= pair[0] < high]
        if band:
            confidence, found = (100 * fmean(part) for part in zip(*band, strict=True))
            yield f"confidence from {low:.1f}: {len(band)} pages, mean {confidence:.1f}, F1 of words {found:.1f}"


def _kept(judged: Sequence[Judged]) -> list[str]:
    return ["\n\n".join(page.example.texts[number] for number in np.flatnonzero(page.kept).tolist()) for page in judged]
