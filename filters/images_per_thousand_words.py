"""How many images a document has for its text."""

from typing import ClassVar

from pydantic.dataclasses import dataclass

from obelics_pipeline.filters.options import STRICT
from obelics_pipeline.filters.text import Text


@dataclass(frozen=True, config=STRICT)
class ImagesPerThousandWords:
    """Kept images of the document by its words, times a thousand; for documents only."""

    name: ClassVar[str] = "images_per_thousand_words"
    documents_only: ClassVar[bool] = True

    def score(self, text: Text) -> float | None:
        """The ratio; None for a text that is no document's, and for one without words."""
        if text.document is None or not text.words:
            return None
        return 1000 * len(text.document.images()) / len(text.words)
