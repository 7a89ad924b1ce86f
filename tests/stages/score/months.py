"""A scorer that worker processes can make without any package, and that some documents break."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from obelics_pipeline.core.document import Document

POISON = "a text that no model survives"
OVERFLOW = "a text that is too much for sixteen bits"


class Months:
    """Measures in which month a page was captured."""

    def score(self, documents: Sequence[Document]) -> Sequence[Mapping[str, float | None]]:
        if any(POISON in document.text() for document in documents):
            raise RuntimeError("poisoned")
        return [{"month": inf if OVERFLOW in d.text() else float(str(d.general["warc_date"])[5:7])} for d in documents]


@dataclass(frozen=True)
class MakeMonths:
    config: str
    images: Any

    def __call__(self) -> Months:
        return Months()
