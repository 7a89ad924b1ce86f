"""The recipe and the training's config of each arm and seed, from the experiment."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from obelics_pipeline.core.config.yaml_file import bundled_configs, checked, find_config, read_values
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.training.experiments.ablate.experiment import Arm, Experiment, Parts
from obelics_pipeline.training.experiments.ablate.laying import laid_over, refuse_fixed
from obelics_pipeline.training.plan.recipe import FOLDER, Recipe
from obelics_pipeline.training.train.config import TrainConfig

OF_RECIPE = {
    "tokens": "is the experiment's, the same in all arms",
    "seed": "is of the experiment's seeds",
    "held_out": "must be the same in all arms, or one could train on what another is measured on",
    "language_model": "is in the base recipe, the same tokenizer in all arms",
}
OF_TRAINING = {
    "plan": "is made by the recipe",
    "seed": "is of the experiment's seeds",
    "steps": "follows from the experiment's tokens",
    "schedule.steps": "follows from the experiment's tokens",
}


def base_values(given: str | dict[str, Any]) -> dict[str, Any]:
    """The values of a base config, which is part of the experiment or a file. Raises UserError."""
    if isinstance(given, dict):
        return given
    return read_values(find_config(given, bundled_configs() / FOLDER), ["the sections of the config"])


def parts_of(experiment: Experiment, arm: Arm) -> Parts | None:
    """The small parts of an arm; None where real ones are trained."""
    if experiment.parts is None:
        return None
    return experiment.parts.model_copy(update=arm.parts.model_dump(exclude_none=True))


def recipe_of(
    experiment: Experiment,
    name: str,
    seed: int,
    language_model: Path | None = None,
    half: Mapping[str, Any] | None = None,
) -> Recipe:
    """The recipe of an arm for a seed. `half`: the threshold that its `half` comes to. Raises UserError."""
    arm = experiment.arms[name]
    where = f"{experiment.name}: arms.{name}"
    refuse_fixed(arm.recipe, OF_RECIPE, f"{where}.recipe")
    values = laid_over(_base_recipe(experiment, language_model), arm.recipe)
    datasets = values.get("datasets") or {}
    for dataset in arm.drop:
        if dataset not in datasets:
            raise UserError(f"{where}.drop: no data set {dataset}; there are {', '.join(datasets)}")
    kept = {key: value for key, value in datasets.items() if key not in arm.drop}
    if arm.drop and not kept:
        raise UserError(f"{where}.drop: no data set is left; keep one of {', '.join(datasets)}")
    if arm.drop and all(isinstance(of, Mapping) and of.get("weight") is not None for of in kept.values()):
        whole = sum(of["weight"] for of in kept.values())
        kept = {key: of | {"weight": of["weight"] / whole} for key, of in kept.items()}
        last = next(reversed(kept))  # shares must sum to 1 exactly: the last takes what rounding left
        kept[last] = {key: value for key, value in kept[last].items() if key != "weight"}
    if half:
        kept = {key: laid_over(of, {"keep": half}) for key, of in kept.items()}
    values |= {"datasets": kept, "tokens": experiment.tokens, "seed": seed}
    return checked(Recipe, values, f"{where}.recipe")


def clean_recipe(experiment: Experiment, language_model: Path | None = None) -> Recipe:
    """The recipe whose held-out documents every arm is measured on. Raises UserError."""
    refuse_fixed(experiment.clean.recipe, OF_RECIPE, f"{experiment.name}: clean.recipe")
    values = laid_over(_base_recipe(experiment, language_model), experiment.clean.recipe)
    found = checked(Recipe, values, f"{experiment.name}: clean.recipe")
    if not found.held_out:
        raise UserError(f"{experiment.name}: recipe.held_out is 0: nothing is left to measure on; give 0.05, say")
    return found.model_copy(update={"tokens": found.batch_tokens, "seed": 0})  # only its held-out rows are used


def training_of(
    experiment: Experiment, name: str, seed: int, plan: str, steps: int | None, parts: tuple[Path, Path] | None = None
) -> TrainConfig:
    """The config of an arm's training for a seed, on a plan of so many steps. Raises UserError."""
    arm = experiment.arms[name]
    where = f"{experiment.name}: arms.{name}.training"
    refuse_fixed(arm.training, OF_TRAINING, where)
    values = laid_over(base_values(experiment.training), arm.training)
    if parts is not None:
        values = laid_over(values, {"model": {"language_model": str(parts[0]), "vision": str(parts[1])}})
    values |= {"plan": plan, "seed": seed, "steps": None}
    values = laid_over(values, {"schedule": {"steps": steps}})
    return checked(TrainConfig, values, where)


def _base_recipe(experiment: Experiment, language_model: Path | None) -> dict[str, Any]:
    values = base_values(experiment.recipe)
    return values if language_model is None else values | {"language_model": str(language_model)}
