"""How well extraction is likely to have told the main content of a document's page from the rest."""

from typing import ClassVar

from pydantic.dataclasses import dataclass

from obelics_pipeline.filters.options import STRICT
from obelics_pipeline.filters.text import Text


@dataclass(frozen=True, config=STRICT)
class MainContentConfidence:
    """From 0 to 1, as extraction noted it (`MainContent`): the F1 to expect; for documents only."""

    name: ClassVar[str] = "main_content_confidence"
    documents_only: ClassVar[bool] = True

    def score(self, text: Text) -> float | None:
        """The confidence; None for a text that is no document's, and where the whole page was asked for."""
        value = None if text.document is None else text.document.general.get(self.name)
        return None if value is None else float(value)
