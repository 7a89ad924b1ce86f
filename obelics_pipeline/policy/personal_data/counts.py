"""How much personal data the documents of a unit or of a run held, by kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from obelics_pipeline.core.document import Document

Counts = dict[str, dict[str, int]]  # kind -> {"values", "documents"}


class PersonalDataTally:
    """Counts what passes by, from the columns of documents."""

    def __init__(self, columns: Sequence[str]) -> None:
        self._columns = columns
        self._values: Counter[str] = Counter()
        self._documents: Counter[str] = Counter()

    def passing(self, documents: Iterable[Document]) -> Iterator[Document]:
        """The same documents, counted."""
        for document in documents:
            for column in self._columns:
                count = int(document.scores.get(column) or 0)
                if count:
                    self._values[column] += count
                    self._documents[column] += 1
            yield document

    def to_json(self) -> Counts:
        """The counts by column, zeros included."""
        return {
            column.removeprefix("personal_"): {"values": self._values[column], "documents": self._documents[column]}
            for column in self._columns
        }


def total(counts: Iterable[Mapping[str, Mapping[str, int]]]) -> Counts:
    """The sum of many units'."""
    found: Counts = {}
    for of_unit in counts:
        for kind, numbers in of_unit.items():
            sums = found.setdefault(kind, dict.fromkeys(numbers, 0))
            for name, number in numbers.items():
                sums[name] += number
    return found
