"""Lets images leave that a model measured outside of the bounds of `score.image`, and decides on their documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from obelics_pipeline.core.config import Bounds, RunConfig
from obelics_pipeline.core.document import Document, ImageNode
from obelics_pipeline.stages.shard.finish import lack


@dataclass(frozen=True, slots=True)
class PictureBounds:
    """Bounds by measure, in their order; limits are images that a document must and may have."""

    bounds: Mapping[str, Bounds]
    min_images: int
    max_images: int
    token: str | None = None

    @classmethod
    def of(cls, config: RunConfig) -> PictureBounds | None:
        """None where no bound is given."""
        limits = config.images
        if not config.score.image:
            return None
        return cls(
            config.score.image, limits.min_per_document, limits.max_per_document, config.finish.end_of_document_token
        )

    @property
    def identity(self) -> list[Any]:
        """The settings that decide, as JSON."""
        rules = [[name, bounds.model_dump(mode="json")] for name, bounds in self.bounds.items()]
        return [rules, self.min_images, self.max_images, self.token]

    def __call__(self, document: Document) -> None:
        """Give each image outside of a bound the name of the measure as its reason, then decide on the document.

        An image that was not measured is in all bounds.
        """
        images = document.images()
        for image in images:
            image.reason = self._reason(image)
        if document.reason is None and any(image.reason is not None for image in images):
            document.reason = lack(document, self.min_images, self.max_images, self.token)

    def _reason(self, image: ImageNode) -> str | None:
        for name, bounds in self.bounds.items():
            score = image.scores.get(name)
            if score is not None and not bounds.holds(score):
                return name
        return None
