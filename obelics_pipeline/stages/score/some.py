"""A model that measures documents, and one that measures only some: those whose other scores are within bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from obelics_pipeline.core.config import Bounds
from obelics_pipeline.core.document import Document
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.near import did_you_mean
from obelics_pipeline.filters.sampling import keeps

Columns = Mapping[str, float | None]


class DocumentScorer(Protocol):
    """A model that measures documents. It may form batches among those of one call as it likes."""

    def score(self, documents: Sequence[Document]) -> Sequence[Columns]:
        """Scores by name for each document, in their order."""
        ...


@dataclass(frozen=True)
class ScoreSome:
    """Gives `scorer` the documents whose scores are within all bounds of `only`, by score; the others get nulls."""

    scorer: DocumentScorer
    only: Mapping[str, Bounds]
    columns: Sequence[str]

    def score(self, documents: Sequence[Document]) -> list[Columns]:
        """The columns of each document, in their order. Raises `UserError` for a score that documents do not have."""
        chosen = [self._is_chosen(document) for document in documents]
        found = iter(self.scorer.score([d for d, is_chosen in zip(documents, chosen, strict=True) if is_chosen]))
        return [next(found) if is_chosen else dict.fromkeys(self.columns) for is_chosen in chosen]

    def _is_chosen(self, document: Document) -> bool:
        for name, bounds in self.only.items():
            if name not in document.scores:
                valid = ", ".join(document.scores)
                near = did_you_mean(name, list(document.scores))
                raise UserError(f"score.judge.only.{name}: not measured here{near}; measured are {valid}")
            score = document.scores[name]
            if score is None or not keeps(bounds, score, f"judge {name}", document.doc_id):
                return False
        return True
