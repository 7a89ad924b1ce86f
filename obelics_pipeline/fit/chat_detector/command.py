"""Fitting the detector of text that chat models wrote: `obelics fit chat-detector`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import file_sha256
from obelics_pipeline.fit.chat_detector.strangers import Found, cells_of, found_of, mix_of
from obelics_pipeline.fit.chat_detector.texts import PEOPLE, TRUSTED, LabelledText, fair_weights, labelled, trusted
from obelics_pipeline.fit.chat_detector.word_weights import WordTable, fit_weights
from obelics_pipeline.fit.say import Say
from obelics_pipeline.fit.texts import text_files
from obelics_pipeline.fit.training import REPEATABLE, load_lightgbm
from obelics_pipeline.fit.trees import to_forest
from obelics_pipeline.models.chat_detector.detector import MIX_ONE, ChatDetector, Mix
from obelics_pipeline.models.chat_detector.predictability import numbers_of
from obelics_pipeline.models.forest import SCALE, Forest
from obelics_pipeline.models.perplexity import ARPA, PerplexityModel, model_files

# Chosen with generators and domains left out: more trees, or larger ones, find no more.
_TREES = 200
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
    kenlm: str,
    generators: Sequence[str],
    language: str,
    say: Say,
) -> None:
    """Fit a detector, tell what it finds of generators and domains that it has not seen, and write it.

    Words learn from all texts; the forest not from the trusted ones, which the language model knows by heart. Raises
    UserError, in one line, for what the person can mend.
    """
    load_lightgbm()
    if not output.parent.is_dir():
        raise UserError(f"{output}: there is no folder {output.parent}")
    files, trusted_files = text_files(inputs), text_files(trusted_inputs)
    model = PerplexityModel.load(Path(kenlm).expanduser() / f"{language}{ARPA}", "chat_score")
    texts = [*labelled(files, generators), *trusted(trusted_files)]
    for file in (*files, *trusted_files):
        say(str(file))
    if len({one.generator for one in texts}) < 2:
        raise UserError("texts of both people and machines are needed: label 0 and label 1")
    fitting = _Fitting(texts, model)
    cells = list(cells_of(texts))
    said, found = [], {}
    for cell in cells:
        of_cell = fitting.fit(cell.unseen(texts), Mix(MIX_ONE, MIX_ONE, 0), {})
        said.append(fitting.log_odds(of_cell, cell.rows()))
        told = found_of(cell, said[-1].sum(axis=1))
        if told:
            found[f"{cell.generator}, {cell.domain}"] = told
            say(_told(f"{cell.generator} on {cell.domain}, neither seen", told))
    mix = mix_of(cells, said, texts) if cells else Mix(MIX_ONE // 2, MIX_ONE // 2, 0)
    about = {
        "neither seen": {name: [round(one.recall, 4), round(one.auc, 4)] for name, one in found.items()},
        "texts": {
            generator or "people": _count(texts, generator) for generator in sorted({t.generator for t in texts})
        },
        "input": [file.description() for file in files],
        "trusted": [file.description() for file in trusted_files],
        "kenlm": {Path(file).name: file_sha256(Path(file)) for file in model_files(kenlm, "chat_score")},
        "versions": {name: version(name) for name in ("lightgbm", "numpy", "kenlm", "sentencepiece")},
    }
    detector = fitting.fit(np.arange(len(texts)), mix, about)
    try:
        detector.save(output)
    except OSError as error:
        raise UserError(f"{output}: cannot be written ({error.strerror})") from None
    say(f"wrote {output}: {len(detector.forest.roots)} trees, words {mix.words}, forest {mix.forest}, bias {mix.bias}")


class _Fitting:
    """Everything that is measured of the texts, once."""

    def __init__(self, texts: Sequence[LabelledText], model: PerplexityModel) -> None:
        self._texts = texts
        self._table = WordTable.of([one.form for one in texts])
        self._by_machine = np.array([one.generator != PEOPLE for one in texts])
        measured = [numbers_of(model.read(one.form)) for one in texts]
        self._names = tuple(next(one for one in measured if one is not None))
        self._numbers = np.array([list(one.values()) if one else [np.nan] * len(self._names) for one in measured])
        self._numbers = self._numbers.astype(np.float32)
        # A forest that saw these would take for honest what the model knows by heart.
        self._for_forest = np.array(
            [one is not None and text.domain != TRUSTED for one, text in zip(measured, texts, strict=True)]
        )

    def fit(self, rows: NDArray[np.int64], mix: Mix, about: Mapping[str, Any]) -> ChatDetector:
        """A detector of some of the texts."""
        weights, unit = fit_weights(self._table.take(rows), self._by_machine[rows], self._fair(rows))
        return ChatDetector(weights, unit, self._forest(rows[self._for_forest[rows]]), mix, about)

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


def _count(texts: Sequence[LabelledText], generator: str) -> int:
    return sum(one.generator == generator for one in texts)


def _told(name: str, found: Found) -> str:
    low, high = found.interval
    recall = f"{found.recall:.3f} ({low:.2f} to {high:.2f}) of {found.texts} found at 1 % of people's"
    return f"{name}: {recall}, AUC {found.auc:.3f}"
