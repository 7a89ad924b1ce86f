"""How many rows a file has, before it is cut into units, and whether it has what its layout needs."""

from __future__ import annotations

import pyarrow as pa

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import location, open_parquet
from obelics_pipeline.stages.rows.layouts.layout import LAYOUTS, PARQUET
from obelics_pipeline.stages.rows.read import Options

# a column without which a file is of another layout; `texts` for all others
NEEDED = {"mmc4": "text_list", "curator": "sample_id"}


def count_rows(path: str, layout: str, options: Options) -> int | None:
    """Rows of a Parquet file; None for another file, whose rows nobody counts without reading it.

    Raises UserError for a file that is no Parquet, or not of the layout.
    """
    where = location(path, options)
    if not where.name.lower().endswith(PARQUET):
        return None
    try:
        with open_parquet(where) as source:
            names, rows = source.schema_arrow.names, int(source.metadata.num_rows)
    except (OSError, pa.ArrowException) as error:
        raise UserError(f"{path}: cannot be read as Parquet: {str(error).splitlines()[0][:200]}") from None
    needed = NEEDED.get(layout, "texts")
    if needed not in names:
        known = ", ".join(LAYOUTS[layout].columns)
        found = ", ".join(names)[:200]
        raise UserError(
            f"{path}: has no column {needed}, which reading.layout {layout} reads ({known}); it has {found}; "
            "see docs/coming-from.md for the layouts"
        )
    return rows
