"""An experiment: what is trained, in which arms, with which seeds, and on what all arms are measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field, NonNegativeInt, PositiveFloat, PositiveInt, field_validator, model_validator

from obelics_pipeline.core.config.section import Section
from obelics_pipeline.core.config.yaml_file import bundled_configs, read_config
from obelics_pipeline.training.plan.recipe import FOLDER

Order = Literal["1234", "1_2_3_4", "1_1_1_1"]
GOES = 4  # parts of an order


class Half(Section):
    """The better half of the documents by one column, at its median over all runs; the median itself is in both."""

    column: str = Field(description="Of the index, a number; documents without one are left out.")
    keep: Literal["high", "low"] = Field("high", description="Which half.")


class Shape(Section):
    """Size of a small language model with random weights; null: as in `parts` of the experiment."""

    width: PositiveInt | None = Field(None, multiple_of=8, description="Of its layers.")
    layers: PositiveInt | None = Field(None, description="How many.")


class Parts(Section):
    """Small random parts, made from the documents of the runs, where no real ones are to be trained."""

    words: int = Field(1000, ge=260, description="Tokens of a tokenizer that is trained on the documents.")
    width: PositiveInt = Field(64, multiple_of=8, description="Of the language model's layers.")
    layers: PositiveInt = Field(4, description="Of the language model.")
    side: PositiveInt = Field(32, multiple_of=8, description="Pixels of a picture.")
    documents: PositiveInt = Field(20000, description="The tokenizer is trained on at most so many.")


class Arm(Section):
    """What is different in one arm. Nothing: the base as it is."""

    recipe: dict[str, Any] = Field(
        default_factory=dict,
        description="Laid over the recipe; keys may be nested or have dots: {datasets.web.keep: {farm_score: {max: "
        "0.5}}}, {datasets.web.weight: 0.3}, {datasets.web.share: 0.5}.",
    )
    drop: tuple[str, ...] = Field((), description="Data sets that are left out; the others fill the same tokens.")
    half: Half | None = Field(None, description="Train on half of the documents, on equally many tokens.")
    training: dict[str, Any] = Field(
        default_factory=dict,
        description="Laid over the training's config: {schedule.peak: 4.0e-3}, {loss.z_weight: 0}, {model.latents: 9}.",
    )
    parts: Shape = Field(default_factory=Shape, description="Another size of the language model, with `parts` only.")
    order: Order | None = Field(
        None,
        description="Of the plan's four parts. 1234: in one go. 1_2_3_4: the same rows, the training stopped and "
        "started between the parts. 1_1_1_1: the first part four times, stopped and started likewise.",
    )

    @field_validator("order", mode="before")
    @classmethod
    def quoted(cls, value: Any) -> Any:
        """YAML reads 1_2_3_4 as the number 1234."""
        if isinstance(value, int):
            raise ValueError('write it in quotes, "1234", "1_2_3_4" or "1_1_1_1": YAML takes it for a number')
        return value


class Clean(Section):
    """The held-out documents that every arm is measured on; no arm trains on one of them."""

    plan: str | None = Field(None, description="A plan whose held-out rows these are; null: made by `recipe`.")
    recipe: dict[str, Any] = Field(
        default_factory=dict, description="Laid over the base recipe, as in an arm: which documents are clean."
    )
    rows: NonNegativeInt = Field(0, description="At most so many; 0: all.")


class Spikes(Section):
    """What counts as a spike: a value so far above those before it.

    The spike score of OLMo 2 ("2 OLMo 2 Furious", 2025) is the share of values 7 standard deviations or more from the
    rolling mean of the last 1,000. Here with median and median absolute deviation, that spikes themselves do not move,
    upwards only, and over fewer steps: in a short training the fall of the loss over 1,000 would hide them.
    """

    deviations: PositiveFloat = Field(7.0, description="Robust standard deviations above the running median.")
    window: PositiveInt = Field(100, description="Steps before it that the median is of.")
    least: int = Field(16, ge=4, description="Steps before any is judged.")


class Experiment(Section):
    """Everything that an ablation depends on."""

    name: str = Field("ablation", description="As the report's title has it.")
    training: str | dict[str, Any] = Field(
        description="Config of obelics train, its values or a file; plan, seed and steps are each arm's own."
    )
    recipe: str | dict[str, Any] = Field(
        description="Recipe of obelics plan, its values or a file; tokens and seed are the experiment's."
    )
    tokens: PositiveInt = Field(description="That each arm trains on.")
    seeds: tuple[NonNegativeInt, ...] = Field(
        (0, 1, 2), min_length=1, description="Each arm is trained with each: of the first weights and of the order."
    )
    arms: dict[str, Arm] = Field(min_length=1, description="By name. The first is what the others are compared with.")
    clean: Clean = Field(default_factory=Clean)
    parts: Parts | None = Field(None, description="Make small random parts; null: the recipe and the config name some.")
    spikes: Spikes = Field(default_factory=Spikes)
    confidence: float = Field(0.95, gt=0, lt=1, description="Of the intervals.")
    power: float = Field(0.8, gt=0.5, lt=1, description="With which the smallest difference would have been found.")

    @field_validator("arms")
    @classmethod
    def named(cls, value: dict[str, Arm]) -> dict[str, Arm]:
        """Refuse names that would not do as folders."""
        for name in value:
            if not name or name.startswith(".") or not all(c.isalnum() or c in "_-." for c in name):
                raise ValueError(f"the name {name!r} must be of letters, digits, '_', '-' and '.'")
        return value

    @model_validator(mode="after")
    def whole(self) -> Experiment:
        """Refuse a seed twice, and sizes of parts that are not made."""
        if len(set(self.seeds)) < len(self.seeds):
            raise ValueError(f"seeds: {list(self.seeds)} has one twice; give each once")
        for name, arm in self.arms.items():
            if self.parts is None and arm.parts != Shape():
                raise ValueError(f"arms.{name}.parts: is for an experiment with parts; give parts, or leave it out")
        if self.clean.plan is not None and self.clean.recipe:
            raise ValueError("clean: give plan or recipe, not both")
        return self

    @property
    def first(self) -> str:
        """The arm that the others are compared with."""
        return next(iter(self.arms))


def load_experiment(path: str, overrides: Sequence[str] = ()) -> Experiment:
    """An experiment from a YAML file, or a bundled one by its name. Raises UserError, in one line."""
    return read_config(Experiment, path, overrides, bundled_configs() / FOLDER)
