"""The images of a run's documents as arrays, and how many of each document the rules of images would leave."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from obelics_pipeline.core.config.sharding import ImageRulesConfig
from obelics_pipeline.inspect.run_tables.images import FIELDS
from obelics_pipeline.inspect.tune.documents import Codes, Documents, Mask, Numbers
from obelics_pipeline.stages.fetch.image_rules import FORMAT, RATIO, SIDE

BY_FACTS = (FORMAT, SIDE, RATIO)  # rules that what was fetched decides; declared sizes and URLs are not in a run table


class Images:
    """A run table's images (see `image_tables`) of `documents`, columns as arrays; sizes in pixels, NaN if unknown."""

    def __init__(self, documents: Documents, tables: Iterable[pa.Table]) -> None:
        table = pa.concat_tables([FIELDS.empty_table(), *tables])
        self._documents = documents
        self.document = table["document"].to_numpy().astype(np.int64)  # row of its document
        self.node = table["node"].to_numpy().astype(np.int64)  # its place in the document
        self.reasons, self.formats = Codes.of(table["reason"]), Codes.of(table["format"])
        width, height, n_bytes, similarity, unsafe = (
            pc.fill_null(table[name].cast(pa.float64()), np.nan).to_numpy()
            for name in ("width", "height", "n_bytes", "similarity", "unsafe")
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = width / height
        self.scores: dict[str, Numbers] = {
            "shorter_side": np.fmin(width, height),
            "longer_side": np.fmax(width, height),
            "ratio": np.where(np.isfinite(ratio) & (ratio > 0), ratio, np.nan),
            "bytes": n_bytes,
            "similarity": similarity,
            "unsafe": unsafe,
        }

    def __len__(self) -> int:
        return len(self.document)

    @property
    def kept(self) -> Mask:
        """Which images were kept, in whatever document."""
        found: Mask = self.reasons.codes < 0
        return found

    def fails(self, rules: ImageRulesConfig) -> dict[str, Mask]:
        """Which images each rule of `BY_FACTS` drops, whatever others do; what is not known breaks none."""
        allowed = np.array([name in rules.formats for name in self.formats.names] + [True])
        short, long, ratio = (self.scores[name] for name in ("shorter_side", "longer_side", "ratio"))
        with np.errstate(invalid="ignore"):
            return {
                FORMAT: ~allowed[self.formats.codes],
                SIDE: (short < rules.min_side) | (long > rules.max_side),
                RATIO: (ratio < rules.min_ratio) | (ratio > rules.max_ratio),
            }

    def left(self, rules: ImageRulesConfig) -> NDArray[np.int64]:
        """How many images each document keeps by other rules than it was decided by."""
        dropped = np.logical_or.reduce(list(self.fails(rules).values()))
        ours = np.logical_or.reduce([self.reasons.mask(name) for name in BY_FACTS])
        change = np.where(self.kept & dropped, -1, np.where(ours & ~dropped, 1, 0))
        left = self._documents.images.copy()
        np.add.at(left, self.document, change)
        found: NDArray[np.int64] = np.maximum(left, 0)
        return found
