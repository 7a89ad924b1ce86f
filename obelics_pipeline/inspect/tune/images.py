"""The images of a run's documents as arrays, and how many of each document the rules of images would leave."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from obelics_pipeline.core.config.filtering import Bounds
from obelics_pipeline.core.config.sharding import ImageRulesConfig
from obelics_pipeline.core.document import IMAGE_MEASURES
from obelics_pipeline.inspect.run_tables.images import FIELDS, picture_measures
from obelics_pipeline.inspect.tune.bounds import within
from obelics_pipeline.inspect.tune.documents import Codes, Documents, Mask, Numbers
from obelics_pipeline.stages.fetch.image_rules import FORMAT, RATIO, SIDE, quality_reason

BY_FACTS = (FORMAT, SIDE, RATIO)  # rules that what was fetched decides; declared sizes and URLs are not in a run table


class Images:
    """A run table's images (see `image_tables`) of `documents`, columns as arrays; sizes in pixels, NaN if unknown."""

    def __init__(self, documents: Documents, tables: Iterable[pa.Table]) -> None:
        table = pa.concat_tables([FIELDS.empty_table(), *tables], promote_options="default")
        self._documents = documents
        self.document = table["document"].to_numpy().astype(np.int64)  # row of its document
        self.node = table["node"].to_numpy().astype(np.int64)  # its place in the document
        self.reasons, self.formats = Codes.of(table["reason"]), Codes.of(table["format"])
        width, height, n_bytes = (_numbers(table[name]) for name in ("width", "height", "n_bytes"))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = width / height
        self._by_models = picture_measures(table.column_names)
        self.scores: dict[str, Numbers] = {
            "shorter_side": np.fmin(width, height),
            "longer_side": np.fmax(width, height),
            "ratio": np.where(np.isfinite(ratio) & (ratio > 0), ratio, np.nan),
            "bytes": n_bytes,
            **{name: _numbers(table[name]) for name in ("similarity", "unsafe", *IMAGE_MEASURES, *self._by_models)},
        }

    def __len__(self) -> int:
        return len(self.document)

    @property
    def kept(self) -> Mask:
        """Which images were kept, in whatever document."""
        found: Mask = self.reasons.codes < 0
        return found

    def fails(self, rules: ImageRulesConfig, of_models: Mapping[str, Bounds]) -> dict[str, Mask]:
        """Which images each rule of `BY_FACTS`, and each bound on a measure of pixels or of a model, drops, whatever
        others do; what is not known breaks none.
        """
        allowed = np.array([name in rules.formats for name in self.formats.names] + [True])
        short, long, ratio = (self.scores[name] for name in ("shorter_side", "longer_side", "ratio"))
        with np.errstate(invalid="ignore"):
            return {
                FORMAT: ~allowed[self.formats.codes],
                SIDE: (short < rules.min_side) | (long > rules.max_side),
                RATIO: (ratio < rules.min_ratio) | (ratio > rules.max_ratio),
                **{quality_reason(name): self.outside(name, bounds) for name, bounds in rules.quality.items()},
                **{name: self.outside(name, bounds) for name, bounds in of_models.items()},
            }

    def of(self, name: str) -> Numbers:
        """A score of images; NaN where it was measured of none."""
        return self.scores.get(name, np.full(len(self), np.nan))

    def outside(self, name: str, bounds: Bounds) -> Mask:
        """Which images have a score that is outside of bounds."""
        scores = self.of(name)
        found: Mask = ~within(bounds, scores) & ~np.isnan(scores)
        return found

    def left(self, rules: ImageRulesConfig, of_models: Mapping[str, Bounds]) -> NDArray[np.int64]:
        """How many images each document keeps by other rules than it was decided by."""
        dropped = np.logical_or.reduce(list(self.fails(rules, of_models).values()))
        by_facts = (*BY_FACTS, *(quality_reason(name) for name in IMAGE_MEASURES), *self._by_models)
        ours = np.logical_or.reduce([self.reasons.mask(name) for name in by_facts])
        change = np.where(self.kept & dropped, -1, np.where(ours & ~dropped, 1, 0))
        left = self._documents.images.copy()
        np.add.at(left, self.document, change)
        found: NDArray[np.int64] = np.maximum(left, 0)
        return found


def _numbers(values: pa.ChunkedArray) -> Numbers:
    found: Numbers = pc.fill_null(values.cast(pa.float64()), np.nan).to_numpy()
    return found
