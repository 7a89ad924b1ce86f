"""Fitting the detector of text that chat models wrote: `obelics fit chat-detector`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.rates import mean
from obelics_pipeline.core.storage import file_sha256
from obelics_pipeline.fit.chat_detector.strangers import (
    Cell,
    Found,
    Odds,
    cells_of,
    found_of,
    mix_of,
    mixed,
    settled_of,
)
from obelics_pipeline.fit.chat_detector.subjects import with_domains
from obelics_pipeline.fit.chat_detector.texts import PEOPLE, TRUSTED, LabelledText, fair_weights, labelled, trusted
from obelics_pipeline.fit.chat_detector.word_weights import WordTable, fit_weights
from obelics_pipeline.fit.say import Say
from obelics_pipeline.fit.texts import text_files
from obelics_pipeline.fit.training import REPEATABLE, load_lightgbm
from obelics_pipeline.fit.trees import to_forest
from obelics_pipeline.models.chat_detector.detector import (
    MIX_ONE,
    NOTHING,
    ChatDetector,
    Mix,
    Settled,
    numbers_for_forest,
)
from obelics_pipeline.models.chat_detector.form import tokens_of
from obelics_pipeline.models.forest import SCALE, Forest, score_of
from obelics_pipeline.models.perplexity import ARPA, PerplexityModel, model_files

# Chosen with generators and domains left out: more trees, or larger ones, find no more.
_TREES = 200
_ALIKE = Mix(MIX_ONE // 2, MIX_ONE // 2, 0)
_PARAMETERS = {
    "objective": "binary",
    "num_leaves": 12,
    "learning_rate": 0.06,
    "feature_fraction": 0.3,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "min_data_in_leaf": 25,
    "lambda_l2": 5,
    "verbose": -1,
    **REPEATABLE,
}


def fit_chat_detector(
    inputs: Sequence[str],
    trusted_inputs: Sequence[str],
    output: Path,
    kenlm: str | None,
    generators: Sequence[str],
    language: str,
    unseen: Path | None,
    say: Say,
) -> None:
    """Fit a detector, tell what it finds of generators and domains that it has not seen, and write it.

    `kenlm` is the folder of a language model; None: the forest learns from style alone. `unseen` is a file for scores
    of texts by detectors that have seen neither their generator nor their domain. Words learn from all texts; the
    forest not from the trusted ones, which the language model knows by heart. Raises UserError, in one line, for what
    the person can mend.
    """
    load_lightgbm()
    if not output.parent.is_dir():
        raise UserError(f"{output}: there is no folder {output.parent}")
    files, trusted_files = text_files(inputs), text_files(trusted_inputs)
    model = (
        None if kenlm is None else PerplexityModel.load(Path(kenlm).expanduser() / f"{language}{ARPA}", "chat_score")
    )
    texts = [*labelled(files, generators), *trusted(trusted_files)]
    for file in (*files, *trusted_files):
        say(str(file))
    if len({one.generator for one in texts}) < 2:
        raise UserError("texts of both people and machines are needed: label 0 and label 1")
    table = WordTable.of([one.form for one in texts])
    texts = with_domains(texts, table)
    fitting = _Fitting(texts, table, model)
    cells = cells_of(texts)
    said = [fitting.log_odds(fitting.fit(cell.unseen(texts), _ALIKE, NOTHING, {}), cell.rows()) for cell in cells]
    mix = mix_of(cells, said, texts) if cells else _ALIKE
    settled = settled_of(cells, said, mix) if cells else NOTHING
    odds = [_by_mix_of_others(place, cells, said, texts) for place in range(len(cells))]
    found = {}
    for cell, of_cell in zip(cells, odds, strict=True):
        told = found_of(cell, of_cell)
        if told:
            found[f"{cell.generator}, {cell.domain}"] = told
            say(_told(f"{cell.generator} on {cell.domain}, neither seen", told))
    if unseen is not None:
        write_unseen(unseen, cells, odds, texts)
    about = {
        "neither seen": {name: [round(one.recall.value, 4), round(one.auc, 4)] for name, one in found.items()},
        "texts": {
            generator or "people": _count(texts, generator) for generator in sorted({t.generator for t in texts})
        },
        "input": [file.description() for file in files],
        "trusted": [file.description() for file in trusted_files],
        **_language_model(kenlm),
    }
    detector = fitting.fit(np.arange(len(texts)), mix, settled, about)
    try:
        detector.save(output)
    except OSError as error:
        raise UserError(f"{output}: cannot be written ({error.strerror})") from None
    say(f"wrote {output}: {len(detector.forest.roots)} trees, words {mix.words}, forest {mix.forest}, bias {mix.bias}")


class _Fitting:
    """Everything that is measured of the texts, once."""

    def __init__(self, texts: Sequence[LabelledText], table: WordTable, model: PerplexityModel | None) -> None:
        self._texts = texts
        self._table = table
        self._by_machine = np.array([one.generator != PEOPLE for one in texts])
        measured = [numbers_for_forest(one.form, tokens_of(one.form), model) for one in texts]
        self._names = tuple(next(one for one in measured if one is not None))
        self._numbers = np.array([list(one.values()) if one else [np.nan] * len(self._names) for one in measured])
        self._numbers = self._numbers.astype(np.float32)
        # A forest that saw these would take for honest what the model knows by heart.
        self._for_forest = np.array(
            [one is not None and text.domain != TRUSTED for one, text in zip(measured, texts, strict=True)]
        )

    def fit(self, rows: NDArray[np.int64], mix: Mix, settled: Settled, about: Mapping[str, Any]) -> ChatDetector:
        """A detector of some of the texts."""
        weights, unit = fit_weights(self._table.take(rows), self._by_machine[rows], self._fair(rows))
        return ChatDetector(weights, unit, self._forest(rows[self._for_forest[rows]]), mix, settled, about)

    def _forest(self, rows: NDArray[np.int64]) -> Forest:
        lightgbm = load_lightgbm()
        labels, weights = self._by_machine[rows].astype(np.int8), self._fair(rows) * len(rows)
        data = lightgbm.Dataset(self._numbers[rows], labels, weight=weights)
        return to_forest(lightgbm.train(_PARAMETERS, data, _TREES).dump_model(), self._names)

    def _fair(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        return fair_weights([self._texts[row] for row in rows])

    def log_odds(self, detector: ChatDetector, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Of both parts: shape (texts, 2)."""
        table = self._table.take(rows)
        said = np.bincount(table.rows(), table.values * detector.weights[table.slots], len(table)) / detector.unit
        return np.column_stack([said, detector.forest.log_odds(self._numbers[rows]) / SCALE])


def _language_model(kenlm: str | None) -> dict[str, Any]:
    """Its files, if there is one, and what else the detector was made with."""
    files = {} if kenlm is None else {Path(f).name: file_sha256(Path(f)) for f in model_files(kenlm, "chat_score")}
    used = ("lightgbm", "numpy", *(("kenlm", "sentencepiece") if files else ()))
    return {"kenlm": files, "versions": {name: version(name) for name in used}}


def _count(texts: Sequence[LabelledText], generator: str) -> int:
    return sum(one.generator == generator for one in texts)


def _by_mix_of_others(
    place: int, cells: Sequence[Cell], said: Sequence[Odds], texts: Sequence[LabelledText]
) -> NDArray[np.float64]:
    """Log odds of a cell's rows, mixed by what was found of the other cells."""
    others = [other for other in range(len(cells)) if other != place]
    mix = mix_of([cells[other] for other in others], [said[other] for other in others], texts) if others else _ALIKE
    return mixed(mix, said[place])


def write_unseen(
    path: Path, cells: Sequence[Cell], odds: Sequence[NDArray[np.float64]], texts: Sequence[LabelledText]
) -> None:
    """A line {"id", "score", "unseen"} for each text with an id that was left out; of several scores the mean log odds.

    Raises UserError where it cannot be written.
    """
    found: dict[str, list[float]] = {}
    for cell, of_cell in zip(cells, odds, strict=True):
        for row, one in zip(cell.rows().tolist(), of_cell.tolist(), strict=True):
            if texts[row].id:
                found.setdefault(texts[row].id, []).append(one)
    scores = {id_: score_of(round(mean(several) * SCALE)) for id_, several in found.items()}
    lines = (json.dumps({"id": id_, "score": score, "unseen": True}) + "\n" for id_, score in sorted(scores.items()))
    try:
        path.write_text("".join(lines), "utf-8")
    except OSError as error:
        raise UserError(f"{path}: cannot be written ({error.strerror})") from None


def _told(name: str, found: Found) -> str:
    low, high = found.recall.interval()
    recall = f"{found.recall.value:.3f} ({low:.2f} to {high:.2f}) of {found.recall.of} found at 1 % of people's"
    bound = f"{found.over_bound.value:.3f} over 0.95, where {found.people_over_bound.value:.3f} of people's are"
    return f"{name}: {recall}, AUC {found.auc:.3f}; {bound}"
