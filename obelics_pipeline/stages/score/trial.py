"""The models of a config are loaded once before any other work: what they lack is reported at once, not after hours."""

from __future__ import annotations

from typing import Any

from obelics_pipeline.core.commit import Manifest
from obelics_pipeline.core.config import ScoringConfig
from obelics_pipeline.core.config.models import classifier_of
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.engines.engine import Engine, Failure
from obelics_pipeline.engines.gpus import gpus
from obelics_pipeline.models.pictures.sources import no_images
from obelics_pipeline.stages.score.document_models import LoadDocumentModels, located


def try_models(engine: Engine, config: ScoringConfig) -> None:
    """Load the models where they will work. Raises UserError for what is missing there."""
    make = LoadDocumentModels(located(config).model_dump_json(), no_images)
    for _, outcome in engine.map_models(make, _nothing, [Unit("score", "models", "try")]):
        if isinstance(outcome, Failure):
            raise UserError(f"score: the models do not load: {outcome.reason}")


def _nothing(unit: Unit, _models: Any) -> Manifest:
    return Manifest(unit.name, unit.stage, {}, {}, {})


def processes(config: ScoringConfig) -> int:
    """How many processes of one machine hold the models: see `ScoringConfig.workers`."""
    models = (
        config.flamingo, config.language_model, config.judge, config.similarity, classifier_of(config),
        config.aesthetic, *config.picture_classifiers.values(),
    )  # fmt: skip
    named = {model.device for model in models if model is not None} - {"auto", "cuda"}
    return config.workers or (1 if named else max(1, len(gpus())))
