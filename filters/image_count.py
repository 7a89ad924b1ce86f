"""Number of images of a document."""

from typing import ClassVar

from pydantic.dataclasses import dataclass

from obelics_pipeline.filters.options import STRICT
from obelics_pipeline.filters.text import Text


@dataclass(frozen=True, config=STRICT)
class ImageCount:
    """Number of kept image nodes of the document (the paper: 1 to 30); for documents only."""

    name: ClassVar[str] = "image_count"
    documents_only: ClassVar[bool] = True

    def score(self, text: Text) -> float | None:
        """The count; None for a text that is no document's."""
        return None if text.document is None else float(len(text.document.images()))
