"""The paragraphs of a run's documents as arrays, and what their thresholds would leave of each document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from obelics_pipeline.core.config.filtering import Threshold
from obelics_pipeline.inspect.run_tables.paragraphs import FIELDS, paragraph_scores
from obelics_pipeline.inspect.tune.bounds import within
from obelics_pipeline.inspect.tune.documents import Codes, Documents, Mask, Numbers


class Paragraphs:
    """A run table's paragraphs (see `paragraph_tables`) of `documents`, each column an array."""

    def __init__(self, documents: Documents, tables: Iterable[pa.Table]) -> None:
        table = pa.concat_tables([FIELDS.empty_table(), *tables], promote_options="default")
        self._documents = documents
        self.document = table["document"].to_numpy().astype(np.int64)  # row of its document
        self.node = table["node"].to_numpy().astype(np.int64)  # its place in the document
        self.roles, self.reasons = Codes.of(table["role"]), Codes.of(table["reason"])
        self.bytes = table["bytes"].to_numpy().astype(np.int64)
        self.scores: dict[str, Numbers] = {
            name: pc.fill_null(table[name], np.nan).to_numpy() for name in paragraph_scores(table)
        }

    def __len__(self) -> int:
        return len(self.document)

    @property
    def kept(self) -> Mask:
        """Which paragraphs were kept, in whatever document."""
        found: Mask = self.reasons.codes < 0
        return found

    def meets(self, threshold: Threshold) -> Mask:
        """Which paragraphs a rule is for, by their role."""
        if threshold.roles is None:
            return np.ones(len(self), bool)
        found: Mask = np.logical_or.reduce([self.roles.mask(role) for role in threshold.roles])
        return found

    def fails(self, name: str, threshold: Threshold) -> Mask:
        """Which paragraphs a rule drops, whatever others do; one without a score is never dropped by it."""
        scores = self.scores.get(name)
        if scores is None:
            return np.zeros(len(self), bool)
        failed = ~within(threshold, scores)
        languages = self._documents.languages
        for language, bounds in threshold.languages.items():
            of_it = languages.mask(language)[self.document]
            failed[of_it] = False if bounds is None else ~within(bounds, scores[of_it])
        return failed & ~np.isnan(scores) & self.meets(threshold)

    def bytes_left(self, before: Mapping[str, Threshold], rules: Mapping[str, Threshold]) -> NDArray[np.int64]:
        """The bytes of text that each document keeps by `rules`; `before` are those that it was decided by."""
        dropped = np.zeros(len(self), bool)
        for name, threshold in rules.items():
            dropped |= self.fails(name, threshold)
        ours = np.logical_or.reduce([self.reasons.mask(name) for name in before], initial=False)
        change = np.where(self.kept & dropped, -self.bytes, np.where(ours & ~dropped, self.bytes, 0))
        left = self._documents.bytes.copy()
        np.add.at(left, self.document, change)
        found: NDArray[np.int64] = np.maximum(left, 0)
        return found
