"""All models of a run that look at documents with their images: what a worker of the score stage loads."""

from __future__ import annotations

from obelics_pipeline.core.config.image_safety import ClassifierConfig
from obelics_pipeline.core.config.scoring import ScoringConfig


class ModelsConfig(ScoringConfig):
    """The section `score` with the classifier of `image_safety`. No section of its own: see `RunConfig.models`."""

    classifier: ClassifierConfig | None = None


def classifier_of(config: ScoringConfig) -> ClassifierConfig | None:
    """The classifier, where there is one; a plain section `score` has none."""
    return config.classifier if isinstance(config, ModelsConfig) else None
