"""The identity of the models of a config: everything their scores depend on beside the documents, known without loading
one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from obelics_pipeline.core.config import (
    AestheticConfig,
    FlamingoConfig,
    JudgeConfig,
    LanguageModelConfig,
    ScoringConfig,
    SimilarityConfig,
)
from obelics_pipeline.core.config.models import classifier_of
from obelics_pipeline.core.config.picture_models import EmbeddingConfig, PictureModelConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.near import did_you_mean
from obelics_pipeline.core.unit import digest
from obelics_pipeline.models.flamingo.identity import identity as flamingo_identity
from obelics_pipeline.models.language_model.identity import identity as language_model_identity
from obelics_pipeline.models.unsafe_images.loading import files_beside
from obelics_pipeline.stages.score.document_models import EXAMPLES, columns_by_model, model_columns

# Settings of a Flamingo, or of a language model, that change scores. The others (where it runs, how many documents meet
# in a batch) change them by rounding only: docs/flamingo.md.
OF_LOSS = {"dtype", "window_tokens", "overlap", "max_images", "image_gain"}
OF_SIMILARITY = {"dtype", "max_images"}  # likewise
NOT_OF_CLASSIFIER = {"model", "sha256", "embedding", "device", "batch", "max", "per", "over"}
SAFETY = "image_safety.classifier"
JSON_FILES = ("config.json", "preprocessor_config.json")  # beside a classifier
WEIGHTS = "model.safetensors"


def check_bounds(config: ScoringConfig, taken: Sequence[str] = ()) -> None:
    """Raises UserError for bounds of a column that no named model measures, and for a column that has a taken name."""
    columns, measures = model_columns(config), config.picture_measures
    for name in config.document:
        if name not in columns:
            raise UserError(f"config: score.document.{name}: {_no_column(name, columns, config)}")
    for name in config.image:
        if name not in measures:
            valid = f"valid are {', '.join(measures)}" if measures else "set score.picture_classifiers or aesthetic"
            raise UserError(
                f"config: score.image.{name}: no named model measures it{did_you_mean(name, measures)}; {valid}"
            )
    for name in columns:
        if name in taken:
            raise UserError(f"config: filters.document.{name}: a model measures a column of this name; leave one out")


def _no_column(name: str, columns: Sequence[str], config: ScoringConfig) -> str:
    for model, measured in columns_by_model(config).items():
        if name in measured:
            return f"no model is named that measures it; name one, e.g. --set '{EXAMPLES[model]}', or remove the bound"
    if not columns:
        sections = (
            "score.flamingo, language_model, similarity, picture_classifiers, aesthetic or judge, or "
            "image_safety.classifier"
        )
        return f"no such column; no model is named; set {sections}"
    return f"no such column{did_you_mean(name, columns)}; valid are {', '.join(columns)}"


def models_identity(config: ScoringConfig) -> str:
    """A digest that is equal where the named models give equal scores. Raises UserError for what is missing."""
    return digest(
        {
            "flamingo": config.flamingo and _flamingo(config.flamingo),
            "similarity": config.similarity and _similarity(config.similarity),
        }
        | ({} if config.language_model is None else {"language_model": _language_model(config.language_model)})
        | ({} if config.judge is None else {"judge": _judge(config.judge)})
        | ({} if (classifier := classifier_of(config)) is None else {"classifier": _classifier(classifier, SAFETY)})
        | _pictures(config)
    )


def _pictures(config: ScoringConfig) -> dict[str, Any]:
    named = sorted(config.picture_classifiers.items())
    of_classifiers = {name: _classifier(one, f"score.picture_classifiers.{name}") for name, one in named}
    return ({"picture_classifiers": of_classifiers} if of_classifiers else {}) | (
        {} if config.aesthetic is None else {"aesthetic": _aesthetic(config.aesthetic)}
    )


def _aesthetic(config: AestheticConfig) -> dict[str, Any]:
    return {
        "head": config.sha256 or _sha256(config.head, "score.aesthetic.head"),
        "embedding": _embedding(config.embedding, "score.aesthetic"),
        "settings": config.model_dump(mode="json", include={"activation", "dtype"}),
    }


def _flamingo(config: FlamingoConfig) -> dict[str, Any]:
    return {
        "model": flamingo_identity(config.model, config.trust_remote_code),
        "token_counts": config.token_counts and _sha256(config.token_counts, "score.flamingo.token_counts"),
        "settings": config.model_dump(mode="json", include=OF_LOSS),
    }


def _language_model(config: LanguageModelConfig) -> dict[str, Any]:
    trusted, second = config.trust_remote_code, config.second_model
    return {
        "model": language_model_identity(config.model, trusted),
        "second_model": second and language_model_identity(second, trusted),
        "settings": config.model_dump(mode="json", include=OF_LOSS | {"image_pixels"}),
    }


def _judge(config: JudgeConfig) -> dict[str, Any]:
    settings = {"prompt", "answers", "only", "dtype", "window_tokens", "max_images", "image_pixels"}
    return {
        "model": language_model_identity(config.model, config.trust_remote_code),
        "settings": config.model_dump(mode="json", include=settings),
    }


def _similarity(config: SimilarityConfig) -> dict[str, Any]:
    """A file counts by its content; weights by the sha256 of the config where there is one, which loading compares."""
    model, weights = (Path(value).expanduser() for value in (config.model, config.weights))
    return {
        "model": _sha256(config.model, "score.similarity.model") if model.is_file() else config.model,
        "weights": config.sha256
        or (_sha256(config.weights, "score.similarity.weights") if weights.is_file() else config.weights),
        "settings": config.model_dump(mode="json", include=OF_SIMILARITY),
    }


def _classifier(config: PictureModelConfig, setting: str) -> dict[str, Any]:
    """Files count by their content, the JSON beside them too; a name of the hub counts as it is."""
    path, place = Path(config.model).expanduser(), f"{setting}.model"
    model, folder = config.model, None
    if path.is_dir():
        model, folder = config.sha256 or _sha256(str(path / WEIGHTS), place), path
    elif path.suffix.lower() == ".onnx":
        model, folder = config.sha256 or _sha256(config.model, place), files_beside(path)
    told = {name: _sha256(str(folder / name), place) for name in JSON_FILES if folder and (folder / name).is_file()}
    return {
        "model": model,
        "beside": told,
        "embedding": config.embedding and _embedding(config.embedding, setting),
        "settings": config.model_dump(mode="json", exclude=NOT_OF_CLASSIFIER),
    }


def _embedding(config: EmbeddingConfig, setting: str) -> dict[str, Any]:
    model, weights = (Path(value).expanduser() for value in (config.model, config.weights))
    place = f"{setting}.embedding"
    told = config.sha256 or (_sha256(config.weights, f"{place}.weights") if weights.is_file() else config.weights)
    return {"model": _sha256(config.model, f"{place}.model") if model.is_file() else config.model, "weights": told}


def _sha256(path: str, setting: str) -> str:
    try:
        with Path(path).expanduser().open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UserError(f"config: {setting}: {path} cannot be read: {error.strerror}") from None
