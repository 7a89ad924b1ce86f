"""Edges from the shuffled rows of one bucket: in each key, a document points to the first one that it resembles."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from obelics_pipeline.stages.dedup.numbering import NODE, Numbers, number, words
from obelics_pipeline.stages.dedup.shuffled_rows import EDGES

# Leaders that a document of a key is compared with, at most. A key whose documents are alike needs one. One that many
# unlike texts share (a site's form, by chance) would need as many as there are texts, and a hot key's work would be
# quadratic; what is left over after so many has its other bands.
LEADERS = 16
_AT_ONCE = 1 << 16  # pairs of sketches compared together: 8 MB of them at 64 bytes

Words = npt.NDArray[np.uint64]
_Flags = npt.NDArray[np.bool_]


def edges(rows: pa.Table, threshold: float) -> pa.Table:
    """The duplicates among the rows of CANDIDATES (`bucket` may be missing) that share a rule and a key, as EDGES.

    The first of a key in `ORDER` leads: each row whose sketch agrees with its own becomes an edge to it. Those that do
    not agree lead and follow among themselves in the next round. A sketch holds one bit of each hash function, equal by
    chance in half of the cases where the minima differ. So the estimated Jaccard similarity is 2 * equal - 1 (Li and
    König, "b-bit minwise hashing", 2010, for b = 1). Sketches agree from `threshold` on, and always where one is null.
    Edges are distinct and sorted, whatever the order of the rows.

    Raises pa.ArrowInvalid where keys, doc_ids or sketches differ in length.
    """
    shared = rows.filter(pa.array(_shared(rows)))
    numbers, rows = number(shared.select(NODE))
    groups = _groups(shared)
    order = np.lexsort((numbers, groups))
    again = (np.diff(groups[order]) == 0) & (np.diff(numbers[order]) == 0)  # one document, one key, sent twice
    order = order[np.flatnonzero(np.concatenate([[True], ~again]))] if order.size else order
    sketches = Sketches(shared["sketch"], threshold)
    pairs = [
        numbers[followers] * rows.size + numbers[leaders] for followers, leaders in _rounds(order, groups, sketches)
    ]
    child, first = np.divmod(np.unique(np.concatenate([np.empty(0, np.int64), *pairs])), max(rows.size, 1))
    nodes = shared.select(NODE)
    return join(nodes.take(rows[child]), nodes.take(rows[first]))


def join(documents: pa.Table, firsts: pa.Table) -> pa.Table:
    """Rows of EDGES from two tables with the columns of NODE: what duplicates, and what it duplicates."""
    own = [documents[field.name] for field in EDGES if not field.name.startswith("of_")]
    of = [firsts[field.name.removeprefix("of_")] for field in EDGES if field.name.startswith("of_")]
    return pa.table([*own, *of], names=EDGES.names).cast(EDGES)


class Sketches:
    """The sketches of a bucket's rows, and when two of them agree."""

    def __init__(self, column: pa.ChunkedArray, threshold: float) -> None:
        self._words = words(column)
        self._none: _Flags = column.is_null().to_numpy()
        bits = 8 * (pc.max(pc.binary_length(column)).as_py() or 0)
        self._most = int(bits * (1 - threshold) / 2 + 1e-9)  # bits that may differ

    def agree(self, some: Numbers, others: Numbers) -> _Flags:
        """Whether the sketches of rows, by their index, agree with those of others, one by one."""
        agree = self._none[some] | self._none[others]
        for start in range(0, some.size, _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            differ = np.bitwise_count(self._words[some[part]] ^ self._words[others[part]])
            agree[part] |= differ.sum(axis=1, dtype=np.int64) <= self._most
        return agree


def _rounds(order: Numbers, groups: Numbers, sketches: Sketches) -> Iterator[tuple[Numbers, Numbers]]:
    """Followers and their leaders, as rows. `order` has the rows of each group side by side, the first one first."""
    left = order
    for _ in range(LEADERS):
        if left.size < 2:
            return
        leads = np.concatenate([[True], np.diff(groups[left]) != 0])
        followers = left[~leads]
        leaders = left[leads][np.cumsum(leads) - 1][~leads]
        agree = sketches.agree(followers, leaders)
        yield followers[agree], leaders[agree]
        left = followers[~agree]


def _shared(rows: pa.Table) -> _Flags:
    """Which rows share their key, rule or no rule: the others, nearly all, need not be sorted any further."""
    keys = np.bitwise_xor.reduce(words(rows["key"]) * np.uint64(0x9E3779B97F4A7C15), axis=1)
    order = np.argsort(keys)
    same = np.diff(keys[order]) == 0
    shared = np.zeros(keys.size, np.bool_)
    shared[order[1:][same]] = True
    shared[order[:-1][same]] = True
    return shared


def _groups(rows: pa.Table) -> Numbers:
    """A number for each row that it has in common with those of the same rule and key."""
    rules = rows["rule"].dictionary_encode().unify_dictionaries().combine_chunks().indices.to_numpy()
    keys = [rules, *words(rows["key"]).T]
    order = np.lexsort(keys)
    groups = np.empty(order.size, np.int64)
    new = np.logical_or.reduce([np.diff(key[order]) != 0 for key in keys])
    groups[order] = np.concatenate([[0], np.cumsum(new)]) if order.size else 0
    return groups
