from pathlib import Path
from typing import Any

import numpy as np
import pytest

from obelics_pipeline.fit.trees import to_forest
from obelics_pipeline.models.forest import SCALE, Forest

lightgbm = pytest.importorskip("lightgbm")
NAMES = ("a", "b", "c")


def model(rows: np.ndarray[Any, Any], labels: np.ndarray[Any, Any], trees: int) -> Any:
    parameters = {"objective": "binary", "num_leaves": 8, "min_data_in_leaf": 5, "verbose": -1, "num_threads": 1}
    return lightgbm.train(parameters, lightgbm.Dataset(rows, labels), trees)


def test_the_forest_says_what_the_model_says(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 7, (400, 3)).astype(np.float32) / np.float32(7)  # values on and beside the thresholds
    made = model(rows, (rows[:, 0] + rows[:, 1] > 0.9) ^ (rng.random(400) < 0.1), trees=20)
    forest = to_forest(made.dump_model(), NAMES)
    forest.save(tmp_path / "model.json")
    for one in (forest, Forest.load(tmp_path / "model.json")):
        difference = one.log_odds(rows) - made.predict(rows, raw_score=True) * SCALE
        assert np.abs(difference).max() <= 20 * 0.5 + 1e-6, "half a unit a tree, for its leaf was rounded"


def test_a_tree_that_never_split_is_a_leaf() -> None:
    forest = to_forest(model(np.ones((20, 3)), np.arange(20) % 2, trees=1).dump_model(), NAMES)
    assert forest.log_odds(np.ones((1, 3), np.float32)).tolist() == [0]


@pytest.mark.parametrize("threshold", [0.1, 0.3, -0.1, 1e-300, 1 / 3])
def test_no_float32_falls_on_the_other_side_of_a_rounded_threshold(threshold: float) -> None:
    leaves = [{"leaf_value": 1.0}, {"leaf_value": 2.0}]
    root = {"split_feature": 0, "decision_type": "<=", "threshold": threshold}
    tree = {"tree_structure": {**root, "left_child": leaves[0], "right_child": leaves[1]}}
    near = np.float32(threshold)
    for value in (np.nextafter(near, np.float32(-9)), near, np.nextafter(near, np.float32(9))):
        said = to_forest({"tree_info": [tree]}, ["a"]).log_odds(np.array([[value]], np.float32)) // SCALE
        assert said.tolist() == [1 if float(value) <= threshold else 2]


def test_a_split_by_category_is_refused() -> None:
    split = {"split_feature": 0, "decision_type": "==", "threshold": "1||2", "left_child": {}, "right_child": {}}
    with pytest.raises(ValueError, match="has no place in a forest"):
        to_forest({"tree_info": [{"tree_structure": split}]}, ["a"])
