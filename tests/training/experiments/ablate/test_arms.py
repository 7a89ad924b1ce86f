"""Recipes and configs of arms: what an arm says is laid over the base; wrong input is refused in one line."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.training.experiments.ablate.arms import clean_recipe, recipe_of, training_of
from obelics_pipeline.training.experiments.ablate.experiment import load_experiment
from obelics_pipeline.training.experiments.ablate.laying import laid_over
from tests.training.experiments.ablate.experiments import experiment, values_of

PARTS = (Path("lm"), Path("vision"))


def test_keys_may_be_nested_or_have_dots() -> None:
    base = {"a": {"b": 1, "c": {"d": 2}}, "e": [1]}
    over = {"a.c.d": 3, "a": {"f": 4}, "e": [5]}
    assert laid_over(base, over) == {"a": {"b": 1, "c": {"d": 3}, "f": 4}, "e": [5]}
    assert base == {"a": {"b": 1, "c": {"d": 2}}, "e": [1]}


def test_arms_differ_in_what_they_say_and_in_nothing_else() -> None:
    found = experiment()
    base, arm = (recipe_of(found, name, 1).model_dump() for name in ("all", "long"))
    assert arm["datasets"]["web"].pop("keep") != base["datasets"]["web"].pop("keep")
    assert arm == base
    assert (base["seed"], base["tokens"]) == (1, 1600)


def test_seeds_are_of_the_weights_and_of_the_order() -> None:
    found = experiment()
    assert [recipe_of(found, "all", seed).seed for seed in (0, 1)] == [0, 1]
    assert [training_of(found, "all", seed, "plan", 9, PARTS).seed for seed in (0, 1)] == [0, 1]


def test_training_is_laid_over_and_the_schedule_ends_with_the_plan() -> None:
    found = experiment(arms={"all": {}, "hot": {"training": {"schedule.peak": 0.5, "loss": {"z_weight": 0}}}})
    base, hot = (training_of(found, name, 0, "plan", 9, PARTS) for name in ("all", "hot"))
    assert (hot.schedule.peak, hot.loss.z_weight, hot.schedule.warmup_steps) == (0.5, 0, 0)
    assert base.schedule.steps == hot.schedule.steps == 9


def test_a_dropped_data_set_leaves_its_share_to_the_others() -> None:
    recipe = values_of()["recipe"]
    for name, weight in (("web", 0.7), ("wiki", 0.2)):
        recipe["datasets"][name]["weight"] = weight
    recipe["datasets"]["more"] = {"runs": ["more"], "weight": 0.1}
    found = experiment(recipe=recipe, arms={"all": {}, "two": {"drop": ["more"]}})
    two = recipe_of(found, "two", 0)
    assert {name: of.weight for name, of in two.datasets.items()} == {"web": pytest.approx(7 / 9), "wiki": None}


def test_clean_documents_are_of_the_base_and_its_own_bounds_whatever_the_arms_say() -> None:
    found = clean_recipe(experiment(clean={"recipe": {"datasets.web.keep": {"n_texts": {"min": 4}}}}))
    assert found.datasets["web"].keep["n_texts"].min == 4
    assert found.datasets["wiki"].keep == {}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"arms": {"a": {"recipe": {"tokens": 5}}}}, "test: arms.a.recipe.tokens: is the experiment's"),
        ({"arms": {"a": {"recipe": {"held_out": 0}}}}, "must be the same in all arms"),
        ({"arms": {"a": {"recipe": {"datasets.web.kepe": {}}}}}, "did you mean keep"),
        ({"arms": {"a": {"training": {"seed": 5}}}}, "is of the experiment's seeds"),
        ({"arms": {"a": {"training": {"schedule.peek": 5}}}}, "did you mean peak"),
        ({"arms": {"a": {"training": {"schedule.peak": -5}}}}, "arms.a.training: schedule.peak"),
        ({"arms": {"a": {"drop": ["weeb"]}}}, "arms.a.drop: no data set weeb; there are web, wiki"),
        ({"arms": {"a": {"drop": ["web", "wiki"]}}}, "no data set is left"),
        ({"training": "nowhere.yaml"}, "config nowhere.yaml: no such file"),
    ],
)
def test_what_an_arm_may_not_say_is_refused_in_one_line(change: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as caught:
        found = experiment(**change)
        recipe_of(found, next(iter(found.arms)), 0)
        training_of(found, next(iter(found.arms)), 0, "plan", 9, PARTS)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"arm": {}}, "unknown key arm"),
        ({"seeds": [1, 1]}, "has one twice"),
        ({"arms": {"a": {"order": 1234}}}, "write it in quotes"),
        ({"arms": {"a b": {}}}, "must be of letters"),
        ({"parts": None, "arms": {"a": {"parts": {"layers": 3}}}}, "is for an experiment with parts"),
        ({"clean": {"plan": "p", "recipe": {"seed": 1}}}, "not both"),
        ({"tokens": 0}, "tokens"),
        ({"parts": {"side": 30}}, "parts.side.*multiple of 8"),
        ({"arms": {"a": {"parts": {"width": 30}}}}, "arms.a.parts.width.*multiple of 8"),
    ],
)
def test_wrong_experiments_are_refused_in_one_line(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path = tmp_path / "experiment.yaml"
    path.write_text(yaml.safe_dump(values_of() | change))
    with pytest.raises(UserError, match=message) as caught:
        load_experiment(str(path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["ablate-filters", "ablate-orders", "ablate-settings"])
def test_bundled_experiments_are_whole(name: str) -> None:
    found = load_experiment(name)
    for arm in found.arms:
        recipe_of(found, arm, 0)
        training_of(found, arm, 0, "plan", None, PARTS)
    assert len(found.seeds) >= 3
