"""The scores that can be asked for by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from obelics_pipeline import filters
from obelics_pipeline.core.config import ModelsConfig, RunConfig
from obelics_pipeline.core.document import PICTURE
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.near import did_you_mean
from obelics_pipeline.filters.own import refuse_registered
from obelics_pipeline.models.picture_scores.columns import names_of
from obelics_pipeline.models.pictures.sources import ImageSource, no_images
from obelics_pipeline.stages.extract.measure import LANGUAGE
from obelics_pipeline.stages.score.document_models import EXAMPLES, MODELS, columns_by_model, located

Value = float | str | None
Scores = dict[str, Value]  # by column
NO_IMAGES = "none"  # of --images

EVERY_IMAGE = 10**6  # of a document: classifiers, and an aesthetic head, leave none out
# A loss says little without knowing how many images it was measured with.
ALWAYS = {"flamingo": ("images_seen",), "language_model": ("lm_images_seen",)}
# Columns that cost a pass of the model of their own, by the setting that asks for it.
IMAGE_GAIN: Mapping[str, frozenset[str]] = {
    "flamingo": frozenset({"flamingo_loss_without_images", "flamingo_image_gain"}),
    "language_model": frozenset({"lm_loss_without_images", "lm_image_gain"}),
}
BINOCULARS = "lm_binoculars"
UNIGRAM = "flamingo_worse_than_unigram"


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
        model_of = _model_of(self._models())
        return [name for name in self.names if name in model_of]

    def models(self) -> ModelsConfig:
        """The models that are needed, and nothing of them that is not."""
        return _needed(self.of_models(), self._models())

    def _models(self) -> ModelsConfig:
        return RunConfig.model_validate_json(self.config).models

    def images_of_document(self) -> int:
        """How many images of a document, from its beginning, any of the models looks at."""
        models = self.models()
        if models.classifier is not None or models.picture_measures:
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
        raise UserError("--columns: the config has no filters.document, so name the scores; " + _valid(config.models))
    refuse_registered(names)
    for name in names:
        known = _names(config.models)
        if name not in known and name not in config.filters.document:
            raise UserError(f"--columns {name}: unknown{did_you_mean(name, known)}; {_valid(config.models)}")
        _check_section(name, config.models)
    full = config.with_models(located(config.models))
    asked = Asked(tuple(_expanded(names, config.models)), full.model_dump_json())
    if images != NO_IMAGES and not asked.of_models():
        raise UserError(f"--images {images}: none of the columns looks at images ({', '.join(names)}); leave it out")
    return asked


def is_text(column: str) -> bool:
    """Whether a column holds strings; all others hold floats."""
    return column == LANGUAGE


def _check_section(name: str, config: ModelsConfig) -> None:
    model = name if name in MODELS else _model_of(config).get(name)
    if model is not None and not getattr(config, model):
        said = f"--columns {name}: the config names no model for it"
        raise UserError(f"{said}; give it one, e.g. --set '{EXAMPLES[model]}'")


def _expanded(names: Sequence[str], config: ModelsConfig) -> list[str]:
    """Columns instead of models, each once; what is always written of a model follows the last of its columns."""
    by_model, model_of = columns_by_model(config), _model_of(config)
    columns = list(dict.fromkeys(c for name in names for c in by_model.get(name, (name,))))
    for model, always in ALWAYS.items():
        places = [i for i, column in enumerate(columns) if model_of.get(column) == model]
        if places:
            columns[places[-1] + 1 : places[-1] + 1] = [column for column in always if column not in columns]
    return columns


def _needed(columns: Sequence[str], config: ModelsConfig) -> ModelsConfig:
    asked = {_model_of(config)[column] for column in columns}
    nothing = ModelsConfig()
    sections = {model: getattr(config if model in asked else nothing, model) for model in MODELS}
    for name, gain in IMAGE_GAIN.items():
        model = sections[name]
        if model is not None and gain.isdisjoint(columns):
            sections[name] = model.model_copy(update={"image_gain": False})
    sections["picture_classifiers"] = {
        name: one
        for name, one in sections["picture_classifiers"].items()
        if not set(names_of(PICTURE + name)).isdisjoint(columns)
    }
    language_model = sections["language_model"]
    if language_model is not None and BINOCULARS not in columns:
        sections["language_model"] = language_model.model_copy(update={"second_model": None})
    return config.model_copy(update=sections)


def _model_of(config: ModelsConfig) -> dict[str, str]:
    return {column: model for model, columns in columns_by_model(config).items() for column in columns}


def _names(config: ModelsConfig) -> list[str]:
    return [LANGUAGE, *filters.names(), *MODELS, *_model_of(config)]


def _valid(config: ModelsConfig) -> str:
    return f"valid names: {', '.join(_names(config))}"
