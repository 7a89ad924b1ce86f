"""The documents of a run as arrays: what thresholds are tried on, many times a second."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from obelics_pipeline.filters.sampling import draw
from obelics_pipeline.inspect.run_tables.documents import score_names, stages_of

Mask = NDArray[np.bool_]
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Codes:
    """A column of names as numbers: `names[code]`, or -1 for a missing name."""

    codes: NDArray[np.int32]
    names: tuple[str, ...]

    @classmethod
    def of(cls, column: pa.ChunkedArray) -> Codes:
        """The names in the order in which they are met."""
        encoded = column.combine_chunks().dictionary_encode()
        codes = pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False).astype(np.int32)
        return cls(codes, tuple(encoded.dictionary.to_pylist()))

    def mask(self, name: str) -> Mask:
        """Where it is this name."""
        if name not in self.names:
            return np.zeros(len(self.codes), bool)
        found: Mask = self.codes == self.names.index(name)
        return found


class Documents:
    """A run table's documents (see `document_table`), each column an array in its order."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table
        self.ids: list[str] = table["doc_id"].to_pylist()
        self.row_of = {doc_id: row for row, doc_id in enumerate(self.ids)}
        self.languages, self.sites = Codes.of(table["language"]), Codes.of(table["site"])
        self.page_types = Codes.of(table["page_type"])
        self.reasons = Codes.of(table["reason"])
        self.order = stages_of(table)
        self.stages = _stages(table["stage"], self.order)
        self.images = table["images"].to_numpy().astype(np.int64)
        self.bytes = table["bytes"].to_numpy().astype(np.int64)
        self.scores: dict[str, Numbers] = {
            name: pc.fill_null(table[name], np.nan).to_numpy() for name in score_names(table)
        }
        self._draws: dict[str, Numbers] = {}

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def kept(self) -> Mask:
        """Which documents the run kept."""
        found: Mask = self.stages == len(self.order)
        return found

    def draws(self, name: str) -> Numbers:
        """The number from 0 to 1 that each document has drawn under a filter that keeps a share."""
        if name not in self._draws:
            self._draws[name] = np.array([draw(name, doc_id) for doc_id in self.ids])
        return self._draws[name]


def _stages(column: pa.ChunkedArray, order: Sequence[str]) -> NDArray[np.int8]:
    """The place in the order of the stage that dropped each document; its length where none did."""
    places = pc.fill_null(pc.index_in(column, pa.array(order)), len(order))
    found: NDArray[np.int8] = places.to_numpy().astype(np.int8)
    return found
