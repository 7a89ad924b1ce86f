"""From labelled texts to a forest, by LightGBM."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

import numpy as np

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.fit.example import UNKNOWN, Example
from obelics_pipeline.fit.trees import to_forest
from obelics_pipeline.models.forest import Forest
from obelics_pipeline.stages.extract.main_features import NAMES

# Chosen with domains left out on the pages that the shipped model was fitted on: more trees are hardly better and cost
# every page its time.
_TREES = 110
_PARAMETERS = {
    "objective": "binary",
    "learning_rate": 0.1,
    "num_leaves": 31,
    "max_depth": 8,
    "min_data_in_leaf": 30,
    "feature_fraction": 0.4,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "lambda_l2": 5,
    "verbose": -1,
}
REPEATABLE = {"seed": 1, "deterministic": True, "force_row_wise": True, "num_threads": 1}  # same input, same model


def load_lightgbm() -> Any:
    """The module. Raises UserError where it is not installed, or a library that it needs is not there."""
    try:
        return import_module("lightgbm")
    except (ImportError, OSError) as error:
        raise UserError(f"fitting needs LightGBM: pip install 'obelics-pipeline[fit]' ({error})") from None


def fit(examples: Iterable[Example]) -> Forest:
    """Fit a forest on the texts that have a label. Raises UserError if there are none, or all are alike."""
    known = [(example, example.labels != UNKNOWN) for example in examples]
    labels = np.concatenate([np.zeros(0, np.int8), *(example.labels[rows] for example, rows in known)])
    if len(np.unique(labels)) < 2:
        raise UserError(
            "too little is known of these pages: texts that are content, and texts that are not, are needed"
        )
    features = np.concatenate([example.features[rows] for example, rows in known])
    weights = np.concatenate([example.weights[rows] for example, rows in known])
    lightgbm = load_lightgbm()
    model = lightgbm.train({**_PARAMETERS, **REPEATABLE}, lightgbm.Dataset(features, labels, weight=weights), _TREES)
    return to_forest(model.dump_model(), NAMES)
