"""Which layouts there are, and what each reads of which files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from obelics_pipeline.stages.rows.layouts import curator, mint1t, mmc4, obelics, omnicorpus, published
from obelics_pipeline.stages.rows.row_document import RowDocument

PARQUET = (".parquet",)
LINES = (".jsonl", ".jsonl.gz", ".jsonl.zst")
TAR = (".tar",)


@dataclass(frozen=True)
class Layout:
    """A layout: the endings of its files, the columns that are read, and the function from a row to its document.

    `carries` says whether its rows may hold the bytes of images, `gives_ids` whether they may bring an id of their own:
    of other rows the id is that of their place. `sample` is the column in which the rows of one document have the same
    value, None where a row is a document.
    """

    suffixes: Sequence[str]
    columns: Sequence[str]
    document_of: Callable[[Mapping[str, Any]], RowDocument]
    carries: bool
    gives_ids: bool
    sample: str | None = None


LAYOUTS = {
    "obelics": Layout((*PARQUET, *LINES), obelics.COLUMNS, obelics.document_of, carries=False, gives_ids=True),
    "published": Layout(PARQUET, published.COLUMNS, published.document_of, carries=True, gives_ids=True),
    "mint1t": Layout((*PARQUET, *LINES, *TAR), mint1t.COLUMNS, mint1t.document_of, carries=True, gives_ids=False),
    "mmc4": Layout((*LINES, *PARQUET), mmc4.COLUMNS, mmc4.document_of, carries=True, gives_ids=False),
    "omnicorpus": Layout(
        (*PARQUET, *LINES), omnicorpus.COLUMNS, omnicorpus.document_of, carries=False, gives_ids=False
    ),
    "curator": Layout(
        PARQUET, curator.COLUMNS, curator.document_of, carries=True, gives_ids=True, sample=curator.SAMPLE
    ),
}


def gives_ids(layout: str) -> bool:
    """Whether rows of a layout may bring ids of their own; pages have none."""
    return layout in LAYOUTS and LAYOUTS[layout].gives_ids
