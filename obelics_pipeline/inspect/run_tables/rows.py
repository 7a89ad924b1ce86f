"""The rows of a run table, read again from the files that they stand in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.storage import open_parquet

Places = NDArray[np.int64]


def row_groups(
    folder: RunFolder, documents: pa.Table, columns: Callable[[pq.ParquetFile], Sequence[str]]
) -> Iterator[tuple[pa.Table, Places]]:
    """Some columns of the documents of a run table, or of some rows of one: a table for each row group that has any.

    With each comes where its rows stand in `documents`. `columns` names the paths to read of a file.
    """
    for file, rows, places in _by_file(documents):
        with open_parquet(folder.path / file) as source:
            names, start = list(columns(source)), 0
            for group in range(source.num_row_groups):
                stop = start + source.metadata.row_group(group).num_rows
                first, last = np.searchsorted(rows, [start, stop])
                if last > first:
                    table = source.read_row_group(group, columns=names)
                    yield table.take(pa.array(rows[first:last] - start)), places[first:last]
                start = stop


def _by_file(documents: pa.Table) -> Iterator[tuple[str, Places, Places]]:
    """Each file, the rows in it that are wanted, rising, and where each stands in the table."""
    encoded = documents["file"].combine_chunks().dictionary_encode()
    codes, rows = encoded.indices.to_numpy(), documents["row"].to_numpy().astype(np.int64)
    order = np.lexsort((rows, codes))
    ends = np.searchsorted(codes[order], np.arange(len(encoded.dictionary) + 1))
    for i, file in enumerate(encoded.dictionary.to_pylist()):
        places = order[ends[i] : ends[i + 1]]
        yield file, rows[places], places
