"""Run tables made by hand: documents with scores, as `document_table` gives them."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from obelics_pipeline.inspect.run_tables.documents import FIELDS
from obelics_pipeline.inspect.tune.documents import Documents


def documents(scores: Mapping[str, Sequence[float | None]], **columns: Sequence[Any]) -> Documents:
    """Documents of 400 bytes with two images, in English, kept, of sites of their own, but for what `columns` say."""
    n = len(next(iter(scores.values())))
    values: dict[str, Sequence[Any]] = {
        "doc_id": [f"{i:032x}" for i in range(n)],
        "url": [f"https://site-{i}.example/" for i in range(n)],
        "site": [f"site-{i}.example" for i in range(n)],
        "month": ["2024-05"] * n,
        "language": ["en"] * n,
        "page_type": ["article"] * n,
        "stage": [None] * n,
        "reason": [None] * n,
        "duplicate_of": [None] * n,
        "images": [2] * n,
        "bytes": [400] * n,
        "file": ["extract/x.parquet"] * n,
        "row": list(range(n)),
        **columns,
    }
    fields = [*FIELDS, *(pa.field(name, pa.float64()) for name in scores)]
    return Documents(pa.table({**values, **scores}, schema=pa.schema(fields)))
