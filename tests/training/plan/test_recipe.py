from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.training.plan.recipe import load_recipe

GOOD = {"datasets": {"web": {"runs": ["a"]}}, "language_model": "lm"}


def test_the_bundled_recipe_is_one_and_names_every_key() -> None:
    found = load_recipe("plan")
    text = (Path(__file__).parents[3] / "configs/training/plan.yaml").read_text()
    for model in (type(found), type(found.datasets["web"])):
        for key in model.model_fields:
            assert f"{key}:" in text
    assert found.rows_per_step == 256


@pytest.mark.parametrize(
    ("override", "message"),
    [
        (
            "datasets.web.weigth=0.5",
            "unknown key datasets.web.weigth; did you mean weight?; valid keys here: runs, ",
        ),
        ("datasets.web.keep.x={minimum: 1}", "unknown key datasets.web.keep.x.minimum"),
        ("sequence_tokens=1000", "must be a multiple of sequence_tokens 1000, e.g. 524000"),
        ("datasets.web.weight=0.5", "the weights sum to 0.5, must sum to 1"),
        ("datasets.b={runs: [b], weight: 1}", "nothing is left for those without a weight"),
        ("datasets.web.repeat=0", "datasets.web.repeat: Input should be greater than 0"),
        ("datasets.web.keep.x={min: 2, max: 1}", "min 2.0 is above max 1.0"),
        ("datasets.web.keep.x={any_of: [en], max: 1}", "give one kind"),
        ("datasets.web.keep.x={sample: [[1, 0.5], [1, 1]]}", "must rise"),
        ("datasets.a b={runs: [b]}", "the name 'a b' must be of letters"),
        ("nonsense", "must be KEY=VALUE"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, override: str, message: str) -> None:
    path = tmp_path / "r.yaml"
    path.write_text(yaml.safe_dump(GOOD))
    with pytest.raises(UserError) as caught:
        load_recipe(str(path), [override])
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_tenths_that_sum_to_one_are_one(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    path.write_text(yaml.safe_dump(GOOD | {"datasets": {str(i): {"runs": ["a"], "weight": 0.1} for i in range(10)}}))
    assert len(load_recipe(str(path)).datasets) == 10


def test_a_missing_recipe_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no such file; give a YAML file or the name of a bundled config \(.*plan"):
        load_recipe(str(tmp_path / "none.yaml"))
