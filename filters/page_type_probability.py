"""How sure extraction is of the kind of a document's page."""

from typing import ClassVar

from pydantic.dataclasses import dataclass

from obelics_pipeline.filters.options import STRICT
from obelics_pipeline.filters.text import Text
from obelics_pipeline.models.page_type import MODEL, Kind


@dataclass(frozen=True, config=STRICT)
class PageTypeProbability:
    """From 0 to 1, as extraction noted it; 0 for a page of another kind than those in `kinds`. For documents only."""

    name: ClassVar[str] = "page_type_probability"
    documents_only: ClassVar[bool] = True
    kinds: list[Kind] | None = None

    def files(self) -> list[str]:
        """The file that the scores depend on."""
        return [str(MODEL)]

    def score(self, text: Text) -> float | None:
        """The probability; None for a text that is no document's, and where no kind was told."""
        general = {} if text.document is None else text.document.general
        kind = general.get("page_type")
        if kind is None:
            return None
        return float(general[self.name]) if self.kinds is None or kind in self.kinds else 0.0
