"""Made-up shuffled rows and edges."""

from collections.abc import Iterable, Sequence

import pyarrow as pa

from obelics_pipeline.stages.dedup.shuffled_rows import CANDIDATES, EDGES

Node = tuple[int, int, str, int]  # generation, recency, partition, row


def doc(node: Node) -> bytes:
    """A doc_id that does not sort as the documents do."""
    generation, recency, partition, row = node
    text = f"{row}/{partition}/{recency}/{generation}".encode()
    return (int.from_bytes(text, "little") * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**128).to_bytes(16, "big")


def candidates(rows: Iterable[tuple[str, bytes, bytes | None, Node]]) -> pa.Table:
    """Rows of CANDIDATES: rule, key, sketch, document."""
    lists = [[0, rule, key, sketch, *node, doc(node)] for rule, key, sketch, node in rows]
    return pa.Table.from_pylist([dict(zip(CANDIDATES.names, row, strict=True)) for row in lists], CANDIDATES)


def edge_table(pairs: Iterable[tuple[str, Node, Node]]) -> pa.Table:
    """Rows of EDGES: rule, what duplicates, what it duplicates."""
    lists = [[rule, *node, doc(node), *of, doc(of)] for rule, node, of in pairs]
    return pa.Table.from_pylist([dict(zip(EDGES.names, row, strict=True)) for row in lists], EDGES)


def pairs_of(edges: pa.Table) -> list[tuple[str, Node, Node]]:
    """What `edge_table` makes them of."""
    found = []
    for row in edges.to_pylist():
        node, of = (tuple(row[p + n] for n in ("generation", "recency", "partition", "row")) for p in ("", "of_"))
        assert (row["doc"], row["of_doc"]) == (doc(node), doc(of))
        found.append((row["rule"], node, of))
    return found


def shuffled(table: pa.Table, places: Sequence[int]) -> pa.Table:
    """The rows of a table in another order, in several chunks."""
    taken = table.take(pa.array(places, pa.int64()))
    return pa.concat_tables([taken.slice(0, 3), taken.slice(3, 1), taken.slice(4)])
