"""Fitting the model of the main content: `obelics fit main-content`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.fit.example import UNKNOWN, Example, make_example
from obelics_pipeline.fit.folds import deal
from obelics_pipeline.fit.gold import read_gold
from obelics_pipeline.fit.held_out import calibration, judge_held_out, table
from obelics_pipeline.fit.pages import check_folder, read_pages, write_model
from obelics_pipeline.fit.say import Say
from obelics_pipeline.fit.training import fit, load_lightgbm


def fit_main_content(inputs: Sequence[str], gold: Path, output: Path, folds: int, workers: int, say: Say) -> None:
    """Fit the model on the pages of WARC files, tell how it does on domains that it has not seen, and write it.

    `say` is given each line for the person. Raises UserError, in one line, for what the person can mend.
    """
    load_lightgbm()
    check_folder(output)
    examples = read_pages(inputs, read_gold(gold), make_example, workers)
    if not any(example.truth for example in examples):
        raise UserError(f"{gold}: no row is of a page of the input; a row names its page by warc and offset, or by url")
    fold_of = deal((example.domain for example in examples), folds)
    for line in _of_the_pages(examples):
        say(line)
    say(f"in percent, {folds} folds, all pages of a domain in one of them:")
    judged = list(judge_held_out(examples, fold_of))
    for line in (*table(judged), *calibration(judged)):
        say(line)
    say(write_model(fit(examples), output))


def _of_the_pages(examples: Sequence[Example]) -> Iterator[str]:
    """What there is to learn from."""
    truths = [example.truth for example in examples if example.truth is not None]
    articles = sum(truth.article is not None for truth in truths)
    snippets = sum(bool(truth.wanted or truth.unwanted) for truth in truths)
    labels = np.concatenate([example.labels for example in examples])
    domains = len({example.domain for example in examples})
    yield f"{len(examples)} pages of {domains} domains; of {articles} the article is known, of {snippets} some snippets"
    known = np.count_nonzero(labels != UNKNOWN)
    yield f"{len(labels)} texts, {known} of them with a label, {np.count_nonzero(labels == 1)} main content"
