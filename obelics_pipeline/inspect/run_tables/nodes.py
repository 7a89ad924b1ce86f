"""The nodes of a run table's documents as columns: read a row group at a time, and no Python object per node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.inspect.run_tables.rows import row_groups

SCORE = "score_"  # begins the columns of scores of nodes
_NODES = "nodes"


def nodes_of_kind(
    folder: RunFolder, documents: pa.Table, kind: str, columns: Sequence[str], prefix: str | None = None
) -> Iterator[pa.Table]:
    """The nodes of one kind (text or image), a table for each row group, in the order of files and rows.

    `documents` is a run table, or some rows of one. The first columns are `document`, its row there, and `node`, the
    place among all nodes of the document; then those asked for, and all that begin with `prefix`, such as score_.
    """
    for table, places in row_groups(folder, documents, lambda source: _leaves(source, [*columns, "kind"], prefix)):
        yield _flat(table[_NODES], kind, places)


def texts_of_nodes(
    folder: RunFolder, documents: pa.Table, nodes: Sequence[tuple[int, int]]
) -> dict[tuple[int, int], str]:
    """The texts of a few nodes, by the row of their document in the table and their place in it."""
    rows = sorted({row for row, _ in nodes})
    found: dict[tuple[int, int], str] = {}
    some = documents.select(["file", "row"]).take(pa.array(rows, pa.int64()))
    for table, places in row_groups(folder, some, lambda source: _leaves(source, ["text"])):
        for values, place in zip(table[_NODES], places.tolist(), strict=True):
            row = rows[place]
            found |= {(row, i): values[i].as_py()["text"] or "" for at, i in nodes if at == row}
    return found


def score_names(nodes: pa.Table) -> list[str]:
    """The scores that a table of nodes has columns of."""
    return [name.removeprefix(SCORE) for name in nodes.column_names if name.startswith(SCORE)]


def column(nodes: pa.Table, name: str, kind: pa.DataType) -> Any:
    """A column of nodes, of nulls where files of an earlier version have none."""
    return nodes[name] if name in nodes.column_names else pa.chunked_array([pa.nulls(nodes.num_rows, kind)])


def _leaves(source: pq.ParquetFile, names: Sequence[str], prefix: str | None = None) -> list[str]:
    """The paths of the columns of nodes that are wanted."""
    schema = source.schema
    paths = [schema.column(i).path for i in range(len(schema))]
    nodes = [(path, path.rpartition(".")[2]) for path in paths if path.startswith(f"{_NODES}.")]
    return [path for path, name in nodes if name in names or (prefix is not None and name.startswith(prefix))]


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
