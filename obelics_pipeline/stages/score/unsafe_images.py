"""Decides on images, and on their documents, by the scores of the classifier of unsafe images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from obelics_pipeline.core.config import ClassifierConfig, RunConfig
from obelics_pipeline.core.document import PICTURE, Document, ImageNode
from obelics_pipeline.stages.shard.finish import lack

UNSAFE_IMAGE = "unsafe_image"  # reason of an image that is above the bound
UNSAFE_IMAGES = "unsafe_images"  # of a document, where the document is what leaves
UNCLASSIFIED = "unclassified"  # a failure: the classifier could not look at the image, so nobody knows


@dataclass(frozen=True, slots=True)
class Screen:
    """Lets unsafe images leave, or documents that have them; limits are images that a document must and may have."""

    rule: ClassifierConfig
    min_images: int
    max_images: int
    token: str | None = None

    @classmethod
    def of(cls, config: RunConfig) -> Screen | None:
        """None where no classifier is named."""
        rule, limits = config.image_safety.classifier, config.images
        if rule is None:
            return None
        return cls(rule, limits.min_per_document, limits.max_per_document, config.finish.end_of_document_token)

    @property
    def identity(self) -> list[Any]:
        """The settings that decide, as JSON."""
        rule = self.rule
        return [rule.max, rule.per, rule.over, self.min_images, self.max_images, self.token]

    def __call__(self, document: Document) -> None:
        """Set the reason of unsafe images, or of the document. An image that has no score fails: it is not known to be
        safe.
        """
        images = document.images()
        scores = [image.unsafe for image in images if image.unsafe is not None]
        for image in images:
            if image.unsafe is None:
                image.reason, image.failed = UNCLASSIFIED, True
            elif self.rule.per == "image" and image.unsafe > self.rule.max:
                image.reason = UNSAFE_IMAGE
        if self.rule.per == "document" and self._is_over(scores):
            document.reason = UNSAFE_IMAGES
        elif any(image.reason is not None for image in images):
            document.reason = lack(document, self.min_images, self.max_images, self.token)

    def _is_over(self, scores: Sequence[float]) -> bool:
        over, bound = self.rule.over, self.rule.max
        if not scores:
            return False
        if over == "mean":
            return fsum(scores) / len(scores) > bound
        unsafe = sum(score > bound for score in scores)
        return unsafe > 0 if over == "any" else unsafe / len(scores) > float(over)


def arrived_images(document: Document) -> list[ImageNode]:
    """The images that a document had when it came here, decided or not."""
    nodes = (node for node in document.nodes if isinstance(node, ImageNode))
    ours = (None, UNSAFE_IMAGE, UNCLASSIFIED)
    return [node for node in nodes if node.reason in ours or str(node.reason).startswith(PICTURE)]
