"""Models that look at documents together with their images, after the fetch: which, and what decides."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, FiniteFloat, PositiveInt, field_validator

from obelics_pipeline.core.config.filtering import Bounds, LanguageBounds, refuse_samples
from obelics_pipeline.core.config.picture_models import AestheticConfig, PictureClassifierConfig
from obelics_pipeline.core.config.section import DataType, Section, Sha256
from obelics_pipeline.core.document import PICTURE

PictureName = Annotated[str, Field(pattern="^[a-z][a-z0-9_]{0,39}$")]  # of what a classifier of images measures
AESTHETIC = "aesthetic"  # the one that is no such name


class FlamingoConfig(Section):
    """The loss of a Flamingo: docs/flamingo.md."""

    model: str = Field(description="A released OpenFlamingo by name, or a folder with a flamingo.json.")
    trust_remote_code: bool = Field(False, description="Let a released model run the code of its repository.")
    token_counts: str | None = Field(
        None, description="File of the model's token counts; null: flamingo_worse_than_unigram is not measured."
    )
    device: str = Field("auto", description="auto: the first GPU where there is one; else cpu, cuda or cuda:N.")
    dtype: DataType = Field("auto", description="auto: bfloat16 on a GPU, float32 on a CPU.")
    window_tokens: PositiveInt = Field(2048, description="Tokens of a sequence; longer documents are read in windows.")
    overlap: PositiveInt = Field(256, description="Tokens of a window that are context from the one before.")
    batch_tokens: PositiveInt = Field(16384, description="Tokens of a batch, padding counted.")
    batch_images: PositiveInt = Field(128, description="Images that are encoded at a time.")
    max_images: PositiveInt = Field(64, description="Images of a document that are looked at, from its beginning.")
    image_gain: bool = Field(True, description="Score a second time without images, for flamingo_image_gain.")


class LanguageModelConfig(Section):
    """The loss of any causal language model or vision-language model of transformers: docs/gpu.md."""

    model: str = Field(
        description="A folder as transformers saves one, or the name of a repository of huggingface.co, owner/name or "
        "owner/name@revision; a run keeps to the commit that it means."
    )
    second_model: str | None = Field(
        None,
        description="A model with the same tokenizer, for lm_binoculars (arXiv 2401.12070): costs a pass of each model "
        "over the text alone; null: not measured.",
    )
    trust_remote_code: bool = Field(False, description="Let a model run the code of its repository.")
    device: str = Field("auto", description="As of flamingo.")
    dtype: DataType = Field("auto", description="As of flamingo.")
    window_tokens: PositiveInt = Field(
        4096,
        description="Tokens of a sequence, those of images counted; longer documents are read in windows. Fewer where "
        "the model has fewer positions.",
    )
    overlap: PositiveInt = Field(256, description="Tokens of a window that are context from the one before.")
    batch_tokens: PositiveInt = Field(16384, description="Tokens that are read at a time, those of images counted.")
    batch_images: PositiveInt = Field(32, description="Images that are encoded at a time.")
    max_images: PositiveInt = Field(
        32, description="Images of a document that a vision-language model looks at, from its beginning."
    )
    image_pixels: PositiveInt = Field(
        147456, description="Pixels of an image, 384 x 384; a larger one is made smaller before the model sees it."
    )
    image_gain: bool = Field(True, description="Score a second time without images, for lm_image_gain.")


class JudgeConfig(Section):
    """A score by a rubric of yours from an instruction-tuned model: docs/gpu.md."""

    model: str = Field(description="As of language_model.")
    prompt: str = Field(description="What the model is asked, with {document} where the document stands.")
    answers: dict[Annotated[str, Field(coerce_numbers_to_str=True)], FiniteFloat] = Field(
        default_factory=lambda: {str(number): float(number) for number in range(1, 6)},
        min_length=2,
        description="Words that the prompt asks for, each a single token of the model, and the number that each means. "
        "judge_score is their mean, weighted by their probabilities.",
    )
    only: dict[str, Bounds] = Field(
        default_factory=dict,
        description="Judge only documents whose other scores, of filters or models, are within these bounds (and drawn "
        "by `sample`): what other scores leave in doubt, or a sample. A document without such a score is not judged.",
    )
    trust_remote_code: bool = Field(False, description="Let a model run the code of its repository.")
    device: str = Field("auto", description="As of flamingo.")
    dtype: DataType = Field("auto", description="As of flamingo.")
    window_tokens: PositiveInt = Field(
        4096, description="Tokens of the prompt with the document; of a longer document the beginning is judged."
    )
    batch_tokens: PositiveInt = Field(16384, description="As of language_model.")
    batch_images: PositiveInt = Field(32, description="As of language_model.")
    max_images: PositiveInt = Field(32, description="As of language_model.")
    image_pixels: PositiveInt = Field(147456, description="As of language_model.")


class SimilarityConfig(Section):
    """How well each image fits the text next to it, by a CLIP: docs/similarity.md."""

    model: str = Field(description="The name of an architecture of open_clip, e.g. ViT-B-32, or a JSON file of one.")
    weights: str = Field(description="A file of weights, or the name by which open_clip knows published ones.")
    sha256: Sha256 | None = Field(None, description="What a file of weights must have; null: not compared.")
    device: str = Field("auto", description="As of flamingo.")
    dtype: DataType = Field("auto", description="As of flamingo.")
    batch: PositiveInt = Field(128, description="Images, or texts, that are encoded at a time.")
    max_images: PositiveInt = Field(64, description="Images of a document that are looked at, from its beginning.")


class ScoringConfig(Section):
    """Nothing is loaded, and nothing measured, where no model is named."""

    flamingo: FlamingoConfig | None = Field(
        None, description="The loss of a document under a model that sees its images; null: not measured."
    )
    language_model: LanguageModelConfig | None = Field(
        None, description="The loss of a document under a language model, or one that sees; null: not measured."
    )
    judge: JudgeConfig | None = Field(
        None, description="A score by a rubric, for some documents or all; null: not measured."
    )
    similarity: SimilarityConfig | None = Field(
        None, description="How well images fit the text beside them, by CLIP; null: not measured."
    )
    picture_classifiers: dict[PictureName, PictureClassifierConfig] = Field(
        default_factory=dict,
        exclude_if=lambda named: not named,  # so that a config without it is written as before
        description="What classifiers measure of each image, by a name of yours: watermark becomes picture_watermark.",
    )
    aesthetic: AestheticConfig | None = Field(
        None,
        exclude_if=lambda named: named is None,
        description="How well people would like each image, as picture_aesthetic; null: not measured.",
    )
    document: dict[str, LanguageBounds] = Field(
        default_factory=dict, description="Bounds of the columns that the models measure, in order."
    )
    image: dict[str, Bounds] = Field(
        default_factory=dict,
        exclude_if=lambda bounds: not bounds,
        description="Bounds of what is measured of each image, such as picture_watermark. An image outside leaves; "
        "then images.min_per_document decides on the document.",
    )
    workers: PositiveInt | None = Field(
        None,
        description="Processes that hold the models, with --engine local. Each has a GPU of its own, while there are "
        "enough. null: one for each GPU; one where there is none, or a device is named.",
    )
    threads: PositiveInt = Field(
        4,
        description="Threads of a process that has its models on a CPU. Sums depend on it by rounding, so it is the "
        "same everywhere, whatever the machine has.",
    )

    @property
    def picture_measures(self) -> tuple[str, ...]:
        """What the named models measure of each image, in an order that does not depend on that of the config."""
        names = sorted(self.picture_classifiers) + ([] if self.aesthetic is None else [AESTHETIC])
        return tuple(PICTURE + name for name in names)

    @field_validator("picture_classifiers")
    @classmethod
    def _names_are_free(cls, named: dict[str, PictureClassifierConfig]) -> dict[str, PictureClassifierConfig]:
        if AESTHETIC in named:
            raise ValueError(f"{AESTHETIC}: score.{AESTHETIC} measures a column of this name; choose another")
        return named

    @field_validator("image")
    @classmethod
    def _of_images(cls, image: dict[str, Bounds]) -> dict[str, Bounds]:
        refuse_samples(image.items())
        return image
