"""Documents in, what a model says of each of their images out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from obelics_pipeline.core.document import Document
from obelics_pipeline.models.picture_scores.columns import DIGITS, columns
from obelics_pipeline.models.pictures.measured import measured
from obelics_pipeline.models.pictures.pixels import Picture
from obelics_pipeline.models.pictures.sources import ImageSource, no_images


class PictureModel(Protocol):
    """A model that is ready to look at pictures."""

    def picture(self, content: bytes, /) -> Picture | None:
        """An image as the model wants to see it; None where its bytes cannot be decoded."""

    def numbers(self, pictures: Sequence[Picture], /) -> Sequence[float]:
        """A number for each; NaN where the model gives none."""


@dataclass
class PictureScorer:
    """A `DocumentScorer`: the columns of `measure` for each document. `images` gives the bytes of an image, or None."""

    measure: str
    model: PictureModel
    images: ImageSource = no_images

    def score(self, documents: Sequence[Document]) -> list[dict[str, float | None]]:
        """The columns of each document, in their order.

        Sets the score `measure` of every kept image that is available and can be decoded; NaN where the model gave no
        number, and then the columns of its document are NaN. An image that is in several of the documents is looked at
        once.
        """
        found = measured(documents, self.images, self.model.picture, self._numbers)
        for document, values in zip(documents, found, strict=True):
            for image, value in zip(document.images(), values, strict=True):
                if value is not None:
                    image.scores[self.measure] = value
        return [columns(self.measure, values) for values in found]

    def _numbers(self, pictures: Sequence[Picture]) -> list[float]:
        return [round(number, DIGITS) for number in self.model.numbers(pictures)]
