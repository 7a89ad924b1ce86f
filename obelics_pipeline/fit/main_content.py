"""Fitting the model of the main content: `obelics fit main-content`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from obelics_pipeline.core.config.reading import ReadingConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.engines.local import LocalEngine
from obelics_pipeline.fit.example import UNKNOWN, Example, make_example
from obelics_pipeline.fit.folds import deal
from obelics_pipeline.fit.gold import Gold, read_gold
from obelics_pipeline.fit.held_out import calibration, judge_held_out, table
from obelics_pipeline.fit.say import Say
from obelics_pipeline.fit.training import fit, load_lightgbm
from obelics_pipeline.stages.read.inputs import resolve_inputs
from obelics_pipeline.stages.read.page import Page
from obelics_pipeline.stages.read.ranges import ReadTask, plan_ranges
from obelics_pipeline.stages.read.records import read_task

_READ_BYTES = 2**20  # compressed bytes of a WARC that a worker reads at a time
_READ_SECONDS = 3600.0  # after which a worker is given up


def fit_main_content(inputs: Sequence[str], gold: Path, output: Path, folds: int, workers: int, say: Say) -> None:
    """Fit the model on the pages of WARC files, tell how it does on domains that it has not seen, and write it.

    `say` is given each line for the person. Raises UserError, in one line, for what the person can mend.
    """
    load_lightgbm()
    if not output.parent.is_dir():
        raise UserError(f"{output}: there is no folder {output.parent}")
    examples = read_examples(inputs, read_gold(gold), workers=workers)
    if not any(example.truth for example in examples):
        raise UserError(f"{gold}: no row is of a page of the input; a row names its page by warc and offset, or by url")
    fold_of = deal((example.domain for example in examples), folds)
    for line in _of_the_pages(examples):
        say(line)
    say(f"in percent, {folds} folds, all pages of a domain in one of them:")
    judged = list(judge_held_out(examples, fold_of))
    for line in (*table(judged), *calibration(judged)):
        say(line)
    forest = fit(examples)
    try:
        forest.save(output)
    except OSError as error:
        raise UserError(f"{output}: cannot be written ({error.strerror})") from None
    say(f"wrote {output}: {len(forest.roots)} trees, {len(forest.nodes)} nodes, {len(forest.features)} features")


def read_examples(inputs: Sequence[str], gold: Gold, workers: int) -> list[Example]:
    """The pages of WARC files, in their order. Raises UserError where they cannot be read."""
    config = ReadingConfig(unit_bytes=_READ_BYTES)
    tasks = plan_ranges(resolve_inputs(inputs, config), config)
    work = partial(_examples_of, config=config, gold=gold)
    with tempfile.TemporaryDirectory() as folder, LocalEngine(workers, Path(folder), _READ_SECONDS) as engine:
        try:
            return [example for found in engine.map(work, tasks) for example in found]
        except OSError as error:
            raise UserError(f"the input cannot be read: {error}") from None


def _examples_of(task: ReadTask, config: ReadingConfig, gold: Gold) -> list[Example]:
    pages = (item for item in read_task(task, config) if isinstance(item, Page))
    made = (make_example(page, gold.find(page)) for page in pages)
    return [example for example in made if example is not None]


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
