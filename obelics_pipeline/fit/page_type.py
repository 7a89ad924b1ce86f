"""Fitting the model of the kinds of pages: `obelics fit page-type`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.fit.folds import deal, domain_of
from obelics_pipeline.fit.gold import Truth, read_gold
from obelics_pipeline.fit.pages import check_folder, read_pages, write_model
from obelics_pipeline.fit.say import Say
from obelics_pipeline.fit.training import REPEATABLE, load_lightgbm
from obelics_pipeline.fit.trees import to_forest
from obelics_pipeline.models.forest import Forest
from obelics_pipeline.models.page_type import KINDS, PageType, judge
from obelics_pipeline.stages.extract.page import PageRejected, numbers_of
from obelics_pipeline.stages.extract.page_numbers import NAMES
from obelics_pipeline.stages.read.page import Page

# Chosen with domains left out on the pages that the shipped model was fitted on.
_ROUNDS = 250  # of a tree for each kind
_PARAMETERS = {
    "objective": "multiclass",
    "num_class": len(KINDS),
    "boost_from_average": False,  # a forest has nothing but its trees
    "learning_rate": 0.05,
    "num_leaves": 4,
    "min_data_in_leaf": 10,
    "feature_fraction": 0.2,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "lambda_l2": 5,
    "verbose": -1,
}
_BANDS = (0.0, 0.5, 0.7, 0.8, 0.9, 1.1)  # of the probability
_COLUMNS = ("pages", "precision", "recall", "f1")


@dataclass(frozen=True, slots=True)
class Example:
    """A page whose kind is known: its domain, its numbers (`page_numbers`), its kind as an index of `KINDS`."""

    domain: str
    numbers: NDArray[np.float32]
    kind: int


@dataclass(frozen=True, slots=True)
class Judged:
    """A page as a model that has not seen its domain judges it, and its kind."""

    found: PageType
    kind: str


def fit_page_type(inputs: Sequence[str], gold: Path, output: Path, folds: int, workers: int, say: Say) -> None:
    """Fit the model on the pages of WARC files, tell how it does on domains that it has not seen, and write it.

    `say` is given each line for the person. Raises UserError, in one line, for what the person can mend.
    """
    load_lightgbm()
    check_folder(output)
    examples = read_pages(inputs, read_gold(gold), make_example, workers)
    if not examples:
        raise UserError(f"{gold}: no row with a page_type is of a page of the input")
    fold_of = deal((example.domain for example in examples), folds)
    say(f"{len(examples)} pages of {len({example.domain for example in examples})} domains")
    say(f"in percent, {folds} folds, all pages of a domain in one of them:")
    judged = list(judge_held_out(examples, fold_of))
    for line in (*table(judged), *calibration(judged)):
        say(line)
    say(write_model(fit(examples), output))


def make_example(page: Page, truth: Truth | None) -> Example | None:
    """A page as it is learnt from; None for one whose kind is unknown, and for one that extraction refuses."""
    if truth is None or truth.page_type is None:
        return None
    try:
        numbers = numbers_of(page.html, page.url)
    except PageRejected:
        return None
    return None if numbers is None else Example(domain_of(page.url), numbers, KINDS.index(truth.page_type))


def fit(examples: Iterable[Example]) -> Forest:
    """Fit a forest in which the trees of the kinds take turns. Raises UserError if a kind has no page."""
    known = list(examples)
    absent = set(range(len(KINDS))) - {example.kind for example in known}
    if absent:
        raise UserError(f"pages of each kind are needed, on several domains: {KINDS[min(absent)]} has too few")
    numbers, kinds = np.array([example.numbers for example in known]), [example.kind for example in known]
    lightgbm = load_lightgbm()
    model = lightgbm.train({**_PARAMETERS, **REPEATABLE}, lightgbm.Dataset(numbers, kinds), _ROUNDS)
    return to_forest(model.dump_model(), NAMES)


def judge_held_out(examples: Sequence[Example], fold_of: dict[str, int]) -> Iterator[Judged]:
    """Judge each page by a model that was fitted on the pages of all other folds. `fold_of` gives a domain's fold."""
    for fold in sorted(set(fold_of.values())):
        forest = fit(example for example in examples if fold_of[example.domain] != fold)
        for example in examples:
            if fold_of[example.domain] == fold:
                yield Judged(judge(example.numbers, forest), KINDS[example.kind])


def table(judged: Sequence[Judged]) -> Iterator[str]:
    """Precision, recall and F1 of each kind in percent, their mean F1 and the share that is right, a line each."""
    width = max(map(len, KINDS))
    yield " " * width + "".join(name.rjust(11) for name in _COLUMNS)
    told = Counter(page.found.kind for page in judged)
    known = Counter(page.kind for page in judged)
    right = Counter(page.kind for page in judged if page.found.kind == page.kind)
    scores = {kind: 200 * right[kind] / max(1, told[kind] + known[kind]) for kind in KINDS}
    for kind in KINDS:
        precision, recall = (100 * right[kind] / max(1, count[kind]) for count in (told, known))
        yield f"{kind.ljust(width)}{known[kind]:11}{precision:11.1f}{recall:11.1f}{scores[kind]:11.1f}"
    share = 100 * right.total() / max(1, len(judged))
    yield f"macro F1 {fmean(scores.values()):.1f}, right {share:.1f}"


def calibration(judged: Sequence[Judged]) -> Iterator[str]:
    """The probability beside the share that is right, a line a band."""
    for low, high in pairwise(_BANDS):
        band = [page for page in judged if low <= page.found.probability < high]
        if band:
            probability = 100 * fmean(page.found.probability for page in band)
            right = 100 * fmean(page.found.kind == page.kind for page in band)
            yield f"probability from {low:.1f}: {len(band)} pages, mean {probability:.1f}, right {right:.1f}"
