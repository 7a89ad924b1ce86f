"""Documents in, how likely each of their images is unsafe out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from obelics_pipeline.core.document import Document
from obelics_pipeline.models.pictures.measured import measured
from obelics_pipeline.models.pictures.sources import ImageSource, no_images
from obelics_pipeline.models.unsafe_images.classifier import Classifier
from obelics_pipeline.models.unsafe_images.columns import columns


@dataclass
class UnsafeImageScorer:
    """A `DocumentScorer`: `columns.COLUMNS` for each document. `images` gives the bytes of an image, or None."""

    classifier: Classifier
    images: ImageSource = no_images

    def score(self, documents: Sequence[Document]) -> list[dict[str, float | None]]:
        """The columns of each document, in their order.

        Sets `unsafe` of every kept image; None if it is unavailable or cannot be decoded. An image that is in
        several of the documents is looked at once.
        """
        scores = measured(documents, self.images, self.classifier.picture, self.classifier.scores)
        for document, of_it in zip(documents, scores, strict=True):
            for image, score in zip(document.images(), of_it, strict=True):
                image.unsafe = score
        return [columns(of_it) for of_it in scores]
