"""A scorer that worker processes can make without any package, and that some documents break."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from obelics_pipeline.document import Document

POISON = "a text that no model survives"


class Months:
    """Measures in which month a page was captured."""

    def score(self, documents: Sequence[Document]) -> Sequence[Mapping[str, float | None]]:
        if any(POISON in document.text() for document in documents):
            raise RuntimeError("poisoned")
        return [{"month": float(str(d.general["warc_date"])[5:7])} for d in documents]


@dataclass(frozen=True)
class MakeMonths:
    config: str
    images: Any

    def __call__(self) -> Months:
        return Months()
