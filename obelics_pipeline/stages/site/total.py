"""The sums of each site over the corpus, from one bucket of evidence, for every unit with pages of the site."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from obelics_pipeline.core.reduce_output import ReduceOutput
from obelics_pipeline.stages.dedup.shuffled_rows import whole, without_bucket
from obelics_pipeline.stages.site.evidence import COUNTS, EVIDENCE, TOTALS


def total(rows: pa.Table, _bucket: str) -> ReduceOutput:
    """Rows of EVIDENCE of whole sites to rows of TOTALS."""
    rows = whole([rows], without_bucket(EVIDENCE))
    ways = [*((name, "sum") for name in COUNTS), ("first_day", "min"), ("last_day", "max")]
    sums = rows.group_by("site", use_threads=False).aggregate(ways)
    sums = sums.rename_columns({f"{name}_{way}": name for name, way in ways})
    found = rows.select(["partition", "site"]).group_by(["partition", "site"], use_threads=False).aggregate([])
    found = found.join(sums, "site", join_type="inner").join(_mixtures(rows), "site", join_type="inner")
    found = found.select(TOTALS.names).cast(TOTALS)
    return ReduceOutput({"data": found.sort_by([("partition", "ascending"), ("site", "ascending")])})


def _mixtures(rows: pa.Table) -> pa.Table:
    """The entropy of the languages of each site's documents, in bits: 0 where there is one, 1 for two halves."""
    counts = rows.group_by(["site", "language"], use_threads=False).aggregate([("documents", "sum")])
    counts = counts.sort_by([("site", "ascending"), ("language", "ascending")])
    n = counts["documents_sum"].to_numpy().astype(np.float64)
    weighted = n * np.log2(np.maximum(n, 1))
    table = pa.table({"site": counts["site"], "n": n, "weighted": weighted})
    of_site = table.group_by("site", use_threads=False).aggregate([("n", "sum"), ("weighted", "sum")])
    all_ = np.maximum(of_site["n_sum"].to_numpy(), 1)
    bits = np.maximum(np.log2(all_) - of_site["weighted_sum"].to_numpy() / all_, 0.0)
    return pa.table({"site": of_site["site"], "language_mixture": bits})
