"""The documents of a bucket as whole numbers in `ORDER`, so that sorting and comparing them is arithmetic."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from obelics_pipeline.stages.dedup.shuffled_rows import ORDER

NODE = ("rule", *ORDER, "doc")  # what a document is to a rule; of two with equal order the smaller doc_id comes first

Numbers = npt.NDArray[np.int64]


def number(nodes: pa.Table) -> tuple[Numbers, Numbers]:
    """Number the distinct documents of a table that has the columns of NODE, from 0, rule by rule, in `ORDER`.

    Returns the number of each row's document, and for each number the index of a row that has it.
    """
    keys = [key for name in NODE for key in _sortable(nodes[name]) if key.size and (key != key[0]).any()]
    if not keys:  # no row, or one document
        return np.zeros(nodes.num_rows, np.int64), np.arange(min(nodes.num_rows, 1))
    order = np.lexsort(keys[::-1])
    new = np.zeros(order.size, np.bool_)
    for key in keys:
        in_order = key[order]
        new[1:] |= in_order[1:] != in_order[:-1]
    new[0] = True
    numbers = np.empty(order.size, np.int64)
    numbers[order] = np.cumsum(new) - 1
    return numbers, order[new]


def words(column: pa.ChunkedArray) -> npt.NDArray[np.uint64]:
    """Byte strings of one length as rows of 64-bit numbers that sort as they do, filled up with zeros; null is zeros.

    Raises pa.ArrowInvalid where lengths differ.
    """
    width = pc.max(pc.binary_length(column)).as_py() or 8
    array = pc.fill_null(column, bytes(width)).cast(pa.binary(width)).combine_chunks()
    raw = np.frombuffer(array.buffers()[1] or b"", np.uint8)
    rows = raw[array.offset * width : (array.offset + len(array)) * width].reshape(len(array), width)
    if width % 8:
        rows = np.pad(rows, ((0, 0), (0, -width % 8)))
    return rows.view(">u8").astype(np.uint64)


def _sortable(column: pa.ChunkedArray) -> Sequence[npt.NDArray[np.generic]]:
    """A column as one or more columns of numbers that sort alike."""
    if pa.types.is_integer(column.type):
        return [column.to_numpy()]
    if pa.types.is_binary(column.type):
        return list(words(column).T)
    codes = column.dictionary_encode().unify_dictionaries().combine_chunks()
    ranks = np.empty(len(codes.dictionary), np.int32)
    ranks[pc.array_sort_indices(codes.dictionary).to_numpy()] = np.arange(ranks.size, dtype=np.int32)
    return [ranks[codes.indices.to_numpy()]]
