"""The recipe of a plan: which documents of which runs, how often, in which shares, in rows of what size."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field, PositiveInt, field_validator, model_validator

from obelics_pipeline.core.config.section import Section
from obelics_pipeline.core.config.yaml_file import bundled_configs, read_config

Share = Annotated[float, Field(ge=0, le=1)]
FOLDER = "training"  # of the bundled configs


class Threshold(Section):
    """What a column of the index must hold for a document to be planned. Bounds are inclusive."""

    min: float | None = Field(None, description="In the unit of the column; null: no bound.")
    max: float | None = Field(None, description="In the unit of the column; null: no bound.")
    any_of: tuple[str, ...] | None = Field(None, description="Of a column of text (language): the values to keep.")
    if_missing: Literal["keep", "drop"] = Field(
        "keep",
        description="What becomes of a document whose value is null, as of a score not measured.",
    )
    sample: tuple[tuple[float, Share], ...] | None = Field(
        None,
        min_length=1,
        description="The share that is kept of the documents within the bounds, by value, as points of rising value: "
        "[[2, 0.2], [4, 1]] keeps a fifth up to 2 and all from 4 on, and between them a share between. Which "
        "documents, their content alone decides.",
    )

    @model_validator(mode="after")
    def possible(self) -> Threshold:
        """Refuse what no value can meet, and points that do not rise."""
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError(f"min {self.min} is above max {self.max}: nothing would be kept")
        if self.any_of is not None and (self.min, self.max, self.sample) != (None, None, None):
            raise ValueError("any_of is for a column of text, min, max and sample for one of numbers: give one kind")
        points = [value for value, _ in self.sample or ()]
        if any(not left < right for left, right in pairwise(points)):
            raise ValueError(f"sample: the values {points} must rise")
        return self


class Dataset(Section):
    """Documents that are counted together: of one run or of several."""

    runs: tuple[str, ...] = Field(
        min_length=1, description="Folders of finished runs (path, s3://…, gs://…), in order; relative ones are looked "
        "for from the working directory.",
    )  # fmt: skip
    weight: float | None = Field(
        None,
        gt=0,
        le=1,
        description="Share of the plan's tokens; null: what the others leave, by size. The data set that runs out "
        "first ends the plan; what is over of the others is left out and counted.",
    )
    repeat: PositiveInt = Field(
        1, le=1000, description="Passes over the documents at most, each in another order (IDEFICS: 3 for Wikipedia)."
    )
    keep: dict[str, Threshold] = Field(
        default_factory=dict,
        description="By column of the index: scores of the run, n_images, n_files, language, …; and, once training has "
        "told them (obelics losses), train_loss, train_excess and the like, which keep what has none.",
    )
    share: Share = Field(1.0, gt=0, description="Share of the documents that is taken; their content alone decides.")
    without: tuple[str, ...] = Field(
        (), description="Files of document ids or URLs, one in a line, that are left out of this data set."
    )


class Recipe(Section):
    """Everything that a plan depends on, beside the runs and the tokenizer."""

    datasets: dict[str, Dataset] = Field(min_length=1, description="By name, as metrics will show them.")
    language_model: str = Field(description="Folder of the language model, as transformers saves it.")
    sequence_tokens: int = Field(2048, ge=16, le=2**20, description="Tokens of a row (IDEFICS: 1,024; m4: 2,048).")
    images_per_row: PositiveInt = Field(
        24, le=2**15, description="Images of a row at most: bounds the memory of a step. OBELICS has 2.5 in a document."
    )
    batch_tokens: PositiveInt = Field(
        2**19, description="Tokens of a step over all ranks, padding included: a multiple of sequence_tokens."
    )
    tokens: PositiveInt | None = Field(
        None, description="Tokens of the plan at most, to compare recipes on equal terms; null: all that there is."
    )
    seed: int = Field(0, ge=0, le=2**63 - 1, description="Of every permutation.")
    held_out: float = Field(
        0.005, ge=0, le=0.5, description="Share of the documents that is kept for evaluation; their content alone "
        "decides, so that it is the same documents in every plan, and never one of two copies.",
    )  # fmt: skip
    allow_equal_content: bool = Field(
        False, description="Whether two documents may have the same texts and images; else they are refused: `repeat` "
        "is to be the only repetition.",
    )  # fmt: skip
    shuffle_blocks: int = Field(
        0, ge=0, description="Shards that are shuffled together, for shards in an object store, where reads are to "
        "stay in few shards at a time; 0: all documents of a data set with each other.",
    )  # fmt: skip
    without: tuple[str, ...] = Field(
        (), description="Files of document ids or URLs, one in a line, that are left out of every data set. Rows that "
        "hold none of them stay as they were, in the same order.",
    )  # fmt: skip
    without_from_row: int = Field(
        0, ge=0, description="`without` concerns rows from this one on: those before were trained on already (the "
        "cursor of a checkpoint).",
    )  # fmt: skip

    @field_validator("datasets")
    @classmethod
    def named(cls, value: dict[str, Dataset]) -> dict[str, Dataset]:
        """Refuse names that would not do in a ledger's reason or a file's name."""
        for name in value:
            if not name or not all(c.isalnum() or c in "_-." for c in name):
                raise ValueError(f"the name {name!r} must be of letters, digits, '_', '-' and '.'")
        return value

    @model_validator(mode="after")
    def whole(self) -> Recipe:
        """Refuse a batch that is no whole number of rows, and shares that are no shares of one whole."""
        if self.batch_tokens % self.sequence_tokens:
            raise ValueError(
                f"batch_tokens {self.batch_tokens} must be a multiple of sequence_tokens {self.sequence_tokens}, e.g. "
                f"{max(1, round(self.batch_tokens / self.sequence_tokens)) * self.sequence_tokens}"
            )
        given = sum(exact(dataset.weight) for dataset in self.datasets.values() if dataset.weight is not None)
        free = any(dataset.weight is None for dataset in self.datasets.values())
        if given > 1 if not free else given >= 1:
            left = "; nothing is left for those without a weight" if free else ""
            raise ValueError(f"datasets: the weights sum to {float(given):g}, must be shares of 1{left}")
        if given < 1 and not free:
            raise ValueError(f"datasets: the weights sum to {float(given):g}, must sum to 1, or leave one weight out")
        return self

    @property
    def rows_per_step(self) -> int:
        """Rows of a step over all ranks."""
        return self.batch_tokens // self.sequence_tokens


def exact(weight: float) -> Fraction:
    """A weight as it was written: 0.1 is a tenth, thirds are given as 0.333333 and the rest."""
    return Fraction(repr(weight))


def load_recipe(path: str, overrides: Sequence[str] = ()) -> Recipe:
    """A recipe from a YAML file, or the bundled one by its name, `plan`. Raises `UserError`, in one line."""
    return read_config(Recipe, path, overrides, bundled_configs() / FOLDER)
