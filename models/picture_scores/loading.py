"""Scorers of pictures by what the config says of their models."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from obelics_pipeline.core.config.picture_models import AestheticConfig, PictureClassifierConfig
from obelics_pipeline.core.config.scoring import AESTHETIC
from obelics_pipeline.core.document import PICTURE
from obelics_pipeline.models.picture_scores.scorer import PictureScorer
from obelics_pipeline.models.pictures.sources import ImageSource, no_images
from obelics_pipeline.models.unsafe_images.classifier import Asked
from obelics_pipeline.models.unsafe_images.loading import load_classifier


def picture_classifier(
    name: str, config: PictureClassifierConfig, images: ImageSource = no_images, threads: int = 4
) -> PictureScorer:
    """The scorer of a classifier by its name in the config: the probability of its label, 0 to 1.

    Raises `UserError` as `load_classifier` does.
    """
    asked = Asked((config.label,), f"score.picture_classifiers.{name}", "label")
    return PictureScorer(PICTURE + name, load_classifier(config, asked, threads), images)


def aesthetic(config: AestheticConfig, images: ImageSource = no_images) -> PictureScorer:
    """The scorer of an aesthetic head: a number in the unit of the head's training.

    Raises `UserError` for anything that is wrong with the config, and where a package, a file or the device is missing.
    """
    from obelics_pipeline.models.picture_scores.aesthetic import Aesthetic, read_head
    from obelics_pipeline.models.similarity.loading import load

    of = config.embedding
    clip = load(of.model, of.weights, of.sha256, config.device, config.dtype)
    blank = np.zeros((clip.image_side, clip.image_side, 3), np.uint8)
    width = clip.image_vectors([blank], 1).shape[1]
    head = read_head(Path(config.head).expanduser(), config.sha256, config.activation, width)
    return PictureScorer(PICTURE + AESTHETIC, Aesthetic(clip, head, config.batch), images)
