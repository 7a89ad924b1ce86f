"""The scores that can be asked for by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from obelics_pipeline import filters
from obelics_pipeline.core.config import ModelsConfig, RunConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.near import did_you_mean
from obelics_pipeline.filters.own import refuse_registered
from obelics_pipeline.models.pictures.sources import ImageSource, no_images
from obelics_pipeline.stages.extract.measure import LANGUAGE
from obelics_pipeline.stages.score.document_models import EXAMPLES, MODELS, located

Value = float | str | None
Scores = dict[str, Value]  # by column
NO_IMAGES = "none"  # of --images

EVERY_IMAGE = 10**6  # of a document: the classifier leaves none out
# A loss says little without knowing how many images it was measured with.
ALWAYS = {"flamingo": ("images_seen",), "language_model": ("lm_images_seen",)}
# Columns that cost a pass of the model of their own, by the setting that asks for it.
IMAGE_GAIN: Mapping[str, frozenset[str]] = {
    "flamingo": frozenset({"flamingo_loss_without_images", "flamingo_image_gain"}),
    "language_model": frozenset({"lm_loss_without_images", "lm_image_gain"}),
}
BINOCULARS = "lm_binoculars"
UNIGRAM = "flamingo_worse_than_unigram"

_MODEL_OF = {column: model for model, columns in MODELS.items() for column in columns}


@dataclass(frozen=True)
class Asked:
    """The columns to measure, the config as JSON, and the location of images. Picklable and hashable."""

    names: tuple[str, ...]
    config: str
    images: ImageSource = no_images

    def columns(self) -> list[str]:
        """What is written of each row, in this order."""
        return list(self.names)

    def of_models(self) -> list[str]:
        """The columns that models of documents with images measure."""
        return [name for name in self.names if name in _MODEL_OF]

    def models(self) -> ModelsConfig:
        """The models that are needed, and nothing of them that is not."""
        return _needed(self.of_models(), RunConfig.model_validate_json(self.config).models)

    def images_of_document(self) -> int:
        """How many images of a document, from its beginning, any of the models looks at."""
        models = self.models()
        if models.classifier is not None:
            return EVERY_IMAGE
        looking = (models.flamingo, models.language_model, models.judge, models.similarity)
        return max((model.max_images for model in looking if model is not None), default=0)

    def notices(self) -> list[str]:
        """One line per column of a model that is null everywhere, because the config says so."""
        models = self.models()
        flamingo, language_model = models.flamingo, models.language_model
        lines = []
        if flamingo is not None and UNIGRAM in self.names and flamingo.token_counts is None:
            lines.append(f"{UNIGRAM} is null: score.flamingo.token_counts names no file")
        if language_model is not None and BINOCULARS in self.names and language_model.second_model is None:
            lines.append(f"{BINOCULARS} is null: score.language_model.second_model names no model")
        for section, model in (("flamingo", flamingo), ("language_model", language_model)):
            if model is not None and not model.image_gain:
                nulls = [name for name in self.names if name in IMAGE_GAIN[section]]
                lines += [f"{name} is null: score.{section}.image_gain is false" for name in nulls]
        return lines


def ask(names: Sequence[str], config: RunConfig, images: str = NO_IMAGES) -> Asked:
    """Check the columns that --columns names; without names, every document filter of the config. Raises UserError.

    `images` is the value of --images.
    """
    names = list(dict.fromkeys(names)) or list(config.filters.document)
    if not names:
        raise UserError("--columns: the config has no filters.document, so name the scores; " + _valid())
    refuse_registered(names)
    for name in names:
        if name not in _names() and name not in config.filters.document:
            raise UserError(f"--columns {name}: unknown{did_you_mean(name, _names())}; {_valid()}")
        _check_section(name, config.models)
    full = config.with_models(located(config.models))
    asked = Asked(tuple(_expanded(names)), full.model_dump_json())
    if images != NO_IMAGES and not asked.of_models():
        raise UserError(f"--images {images}: none of the columns looks at images ({', '.join(names)}); leave it out")
    return asked


def is_text(column: str) -> bool:
    """Whether a column holds strings; all others hold floats."""
    return column == LANGUAGE


def _check_section(name: str, config: ModelsConfig) -> None:
    model = name if name in MODELS else _MODEL_OF.get(name)
    if model is not None and getattr(config, model) is None:
        said = f"--columns {name}: the config names no model for it"
        raise UserError(f"{said}; give it one, e.g. --set '{EXAMPLES[model]}'")


def _expanded(names: Sequence[str]) -> list[str]:
    """Columns instead of models, each once; what is always written of a model follows the last of its columns."""
    columns = list(dict.fromkeys(c for name in names for c in MODELS.get(name, (name,))))
    for model, always in ALWAYS.items():
        places = [i for i, column in enumerate(columns) if _MODEL_OF.get(column) == model]
        if places:
            columns[places[-1] + 1 : places[-1] + 1] = [column for column in always if column not in columns]
    return columns


def _needed(columns: Sequence[str], config: ModelsConfig) -> ModelsConfig:
    asked = {_MODEL_OF[column] for column in columns}
    sections = {model: getattr(config, model) if model in asked else None for model in MODELS}
    for name, gain in IMAGE_GAIN.items():
        model = sections[name]
        if model is not None and gain.isdisjoint(columns):
            sections[name] = model.model_copy(update={"image_gain": False})
    language_model = sections["language_model"]
    if language_model is not None and BINOCULARS not in columns:
        sections["language_model"] = language_model.model_copy(update={"second_model": None})
    return config.model_copy(update=sections)


def _names() -> list[str]:
    return [LANGUAGE, *filters.names(), *MODELS, *_MODEL_OF]


def _valid() -> str:
    return f"valid names: {', '.join(_names())}"
