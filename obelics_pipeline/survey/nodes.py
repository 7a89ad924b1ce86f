"""The nodes of surveyed documents as columns: read a row group at a time, and no Python object per node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from obelics_pipeline.folder import RunFolder
from obelics_pipeline.storage import open_parquet

SCORE = "score_"  # begins the columns of paragraph scores
_NODES = "nodes"


def nodes_of_kind(
    folder: RunFolder, documents: pa.Table, kind: str, columns: Sequence[str], scores: bool = False
) -> Iterator[pa.Table]:
    """The nodes of one kind (text or image), a table for each row group, in the order of files and rows.

    `documents` is a survey, or some rows of one. The first columns are `document`, the row of that table, and `node`,
    the place among all nodes of the document; then those asked for, and with `scores` all that begin with score_.
    """
    for file, rows, places in _by_file(documents):
        with open_parquet(folder.path / file) as source:
            leaves = _leaves(source, [*columns, "kind"], scores)
            start = 0
            for group in range(source.num_row_groups):
                stop = start + source.metadata.row_group(group).num_rows
                first, last = np.searchsorted(rows, [start, stop])
                if last > first:
                    table = source.read_row_group(group, columns=leaves).take(pa.array(rows[first:last] - start))
                    yield _flat(table[_NODES], kind, places[first:last])
                start = stop


def column(nodes: pa.Table, name: str, kind: pa.DataType) -> Any:
    """A column of nodes, of nulls where files of an earlier version have none."""
    return nodes[name] if name in nodes.column_names else pa.chunked_array([pa.nulls(nodes.num_rows, kind)])


def _by_file(documents: pa.Table) -> Iterator[tuple[str, NDArray[np.int64], NDArray[np.int64]]]:
    """Each file, the rows in it that are wanted, rising, and where each stands in the table."""
    encoded = documents["file"].combine_chunks().dictionary_encode()
    codes, rows = encoded.indices.to_numpy(), documents["row"].to_numpy().astype(np.int64)
    order = np.lexsort((rows, codes))
    ends = np.searchsorted(codes[order], np.arange(len(encoded.dictionary) + 1))
    for i, file in enumerate(encoded.dictionary.to_pylist()):
        places = order[ends[i] : ends[i + 1]]
        yield file, rows[places], places


def _leaves(source: pq.ParquetFile, names: Sequence[str], scores: bool) -> list[str]:
    """The paths of the columns of nodes that are wanted."""
    schema = source.schema
    paths = [schema.column(i).path for i in range(len(schema))]
    nodes = [(path, path.rpartition(".")[2]) for path in paths if path.startswith(f"{_NODES}.")]
    return [path for path, name in nodes if name in names or (scores and name.startswith(SCORE))]


def _flat(lists: pa.ChunkedArray, kind: str, places: NDArray[np.int64]) -> pa.Table:
    one = lists.combine_chunks()
    parents = pc.list_parent_indices(one).to_numpy()
    starts = np.concatenate([[0], np.cumsum(pc.fill_null(pc.list_value_length(one), 0).to_numpy())])
    values = pc.list_flatten(one)
    fields = dict(zip(values.type.names, values.flatten(), strict=True))
    wanted = pc.equal(fields.pop("kind"), kind)
    nodes = {
        "document": pa.array(places[parents], pa.int64()),
        "node": pa.array(np.arange(len(parents)) - starts[parents], pa.int32()),
        **fields,
    }
    return pa.table(nodes).filter(wanted)
