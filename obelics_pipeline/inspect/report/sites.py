"""The sites that fell by what their pages say together, and what that rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from obelics_pipeline.core.tables import read_documents
from obelics_pipeline.inspect.report.opened import Opened
from obelics_pipeline.stages.site.site_evidence import STAGE
from obelics_pipeline.stages.site.told import SharedPassage, shared_with_others

MOST = 20  # sites that are shown
PASSAGES = 3  # of a site


@dataclass(frozen=True)
class FallenSite:
    """A site of which pages were dropped by the stage `site`; `values` are medians of these pages, None where null."""

    site: str
    dropped: int
    pages: int
    values: Sequence[float | None]
    doc_id: str
    shared: Sequence[SharedPassage]


def fallen_sites(run: Opened) -> list[FallenSite]:
    """The sites, the one with most dropped pages first, with the values of the config's columns of a site."""
    names = [name for name in run.config.site.columns if name in run.documents.column_names]
    dropped = run.documents.filter(pc.fill_null(pc.equal(run.documents["stage"], STAGE), False))
    counts = dropped.group_by("site").aggregate([([], "count_all")]).to_pylist()
    counts.sort(key=lambda row: (-row["count_all"], row["site"]))
    return [_fallen(run, dropped, row["site"], names) for row in counts[:MOST]]


def _fallen(run: Opened, dropped: pa.Table, site: str, names: Sequence[str]) -> FallenSite:
    rows = dropped.filter(pc.equal(dropped["site"], site)).sort_by("url")
    pages = pc.sum(pc.equal(run.documents["site"], site)).as_py()
    first = rows.slice(0, 1).to_pylist()[0]
    document = next(read_documents(run.folder.path / first["file"], first["row"], first["row"] + 1))
    unit = first["file"].rpartition("/")[2].rpartition("-")[0]  # a file's name ends with the hash of its bytes
    shared = shared_with_others(run.folder, unit, document)[:PASSAGES]
    return FallenSite(site, rows.num_rows, pages, [_median(rows[name]) for name in names], first["doc_id"], shared)


def _median(values: pa.ChunkedArray) -> float | None:
    known = values.drop_null().to_numpy()
    return float(np.median(known)) if len(known) else None
