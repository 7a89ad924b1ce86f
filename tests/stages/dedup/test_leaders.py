"""Each document of a key must be linked to the first that it resembles, whatever the order and the bucket."""

import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.stages.dedup.leaders import LEADERS, edges
from obelics_pipeline.stages.dedup.shuffled_rows import CANDIDATES, EDGES
from tests.stages.dedup.tables import Node, candidates, edge_table, pairs_of, shuffled

KEY = bytes(range(16))
SAME = bytes(64)


def node(row: int, partition: str = "a", generation: int = 0, recency: int = 0) -> Node:
    return generation, recency, partition, row


def differing(bits: int) -> bytes:
    """A sketch of 512 bits with so many bits set."""
    return ((1 << bits) - 1).to_bytes(64, "little")


def linked(rows: list[tuple[str, bytes, bytes | None, Node]], threshold: float = 0.8) -> list[tuple[str, Node, Node]]:
    return pairs_of(edges(candidates(rows), threshold))


def test_the_first_in_order_leads() -> None:
    first, *rest = nodes = [
        node(9, "z", 0, -5),
        node(0, "a", 0, -4),
        node(3, "b", 0, 0),
        node(4, "b"),
        node(0, "a", 1, -9),
    ]
    rows = [("text", KEY, SAME, n) for n in random.Random(1).sample(nodes, len(nodes))]
    assert linked(rows) == [("text", n, first) for n in rest]


def test_partitions_sort_by_name_not_by_when_they_are_met() -> None:
    rows = [("text", KEY, SAME, node(0, name)) for name in ("b", "é", "a", "b2")]
    assert [of for _, _, of in linked(rows)] == [node(0, "a")] * 3


@pytest.mark.parametrize(("threshold", "most"), [(0.8, 51), (0.75, 64), (1.0, 0), (0.5, 128)])
def test_sketches_agree_up_to_as_many_bits_as_the_threshold_allows(threshold: float, most: int) -> None:
    for bits in (most, most + 1):
        rows = [("text", KEY, SAME, node(0)), ("text", KEY, differing(bits), node(1))]
        assert len(linked(rows, threshold)) == (bits == most)


def test_sketches_of_any_number_of_bytes_are_compared() -> None:
    rows = [("text", KEY, b"\x00\x00\x00", node(0)), ("text", KEY, b"\x00\x00\x03", node(1))]
    assert [len(linked(rows, threshold)) for threshold in (1 - 4 / 24, 1 - 2 / 24)] == [1, 0]


def test_without_a_sketch_the_key_is_proof() -> None:
    rows = [("url", KEY, None, node(0)), ("url", KEY, None, node(1)), ("url", KEY, SAME, node(2))]
    assert linked(rows, 1.0) == [("url", node(1), node(0)), ("url", node(2), node(0))]


def test_what_does_not_agree_leads_its_own() -> None:
    other = differing(512)
    rows = [("text", KEY, sketch, node(i)) for i, sketch in enumerate([SAME, other, SAME, other, differing(256)])]
    assert linked(rows) == [("text", node(2), node(0)), ("text", node(3), node(1))]


def test_a_key_of_unlike_texts_costs_a_bounded_number_of_rounds() -> None:
    random_ = random.Random(1)
    unlike = [random_.randbytes(64) for _ in range(LEADERS + 1)]
    rows = [("text", KEY, sketch, node(i)) for i, sketch in enumerate(unlike + unlike)]
    assert linked(rows) == [("text", node(i + len(unlike)), node(i)) for i in range(LEADERS)]


def test_keys_and_rules_are_apart() -> None:
    other = bytes(15) + b"\x01"
    rows = [("text", KEY, SAME, node(0)), ("url", KEY, None, node(1)), ("text", other, SAME, node(2))]
    assert linked(rows) == []
    rows += [("url", KEY, None, node(3)), ("text", other[8:] + other[:8], SAME, node(4))]
    assert linked(rows) == [("url", node(3), node(1))]


def test_one_document_sent_twice_is_no_duplicate_of_itself() -> None:
    assert linked([("text", KEY, SAME, node(0))] * 3) == []
    other = bytes(16)
    rows = [("text", key, SAME, node(i)) for key in (KEY, other) for i in (0, 1)]
    assert linked(rows) == [("text", node(1), node(0))]


@pytest.mark.parametrize("names", [CANDIDATES.names, CANDIDATES.names[1:]])
def test_nothing_in_nothing_out(names: list[str]) -> None:
    assert edges(CANDIDATES.empty_table().select(names), 0.8).equals(EDGES.empty_table())
    alone = candidates([("text", KEY, SAME, node(0))]).select(names)
    assert edges(alone, 0.8).equals(EDGES.empty_table())


def test_unequal_sketches_are_refused() -> None:
    with pytest.raises(pa.ArrowInvalid):
        linked([("text", KEY, SAME, node(0)), ("text", KEY, bytes(32), node(1))])


_ROWS = st.lists(
    st.tuples(
        st.sampled_from(["text", "url"]),
        st.integers(0, 5).map(lambda i: bytes(8) + i.to_bytes(8, "little")),
        st.sampled_from([None, SAME, differing(40), differing(90), differing(300)]),
        st.builds(node, st.integers(0, 9), st.sampled_from(["a", "b"]), st.integers(0, 1), st.integers(-1, 0)),
    ),
    unique_by=lambda row: (row[0], row[1], row[3]),
    max_size=40,
)


def plainly(rows: list[tuple[str, bytes, bytes | None, Node]], threshold: float) -> list[tuple[str, Node, Node]]:
    """The same, read aloud."""
    found = set()
    for rule, key in {(rule, key) for rule, key, _, _ in rows}:
        left = sorted((n, s) for r, k, s, n in rows if (r, k) == (rule, key))
        for _ in range(LEADERS):
            if not left:
                break
            (leader, sketch), *others = left
            left = []
            for n, s in others:
                if s is None or sketch is None or _jaccard(s, sketch) >= threshold:
                    found.add((rule, n, leader))
                else:
                    left.append((n, s))
    return sorted(found)


def _jaccard(a: bytes, b: bytes) -> float:
    return 1 - 2 * (int.from_bytes(a, "little") ^ int.from_bytes(b, "little")).bit_count() / (8 * len(a))


@given(_ROWS, st.sampled_from([0.5, 0.8, 0.9]), st.randoms(use_true_random=False))
def test_as_read_aloud_whatever_the_order(
    rows: list[tuple[str, bytes, bytes | None, Node]], threshold: float, random_: random.Random
) -> None:
    table = shuffled(candidates(rows), random_.sample(range(len(rows)), len(rows)))
    found = edges(table, threshold)
    assert found.schema == EDGES
    assert pairs_of(found) == plainly(rows, threshold)


@given(_ROWS, st.integers(1, 4))
def test_any_split_by_key_gives_the_same_edges(rows: list[tuple[str, bytes, bytes | None, Node]], buckets: int) -> None:
    parts = [[row for row in rows if row[1][8] % buckets == bucket] for bucket in range(buckets)]
    assert sorted({pair for part in parts for pair in linked(part)}) == linked(rows)


@pytest.mark.timeout(60)  # a hang: it takes two seconds at the most
def test_a_hot_key_takes_linear_time() -> None:
    n = 100_000
    random_ = np.random.default_rng(1)
    sketches = [row.tobytes() for row in random_.integers(0, 256, (n, 64), np.uint8)]
    table = candidates([("text", KEY, SAME, node(i)) for i in range(n)])
    table = table.set_column(3, "sketch", pa.array(sketches, pa.binary()))
    assert edges(table, 0.8).num_rows == 0  # all pairs, 5e9, would outlast the limit


def test_edges_can_be_made_by_hand() -> None:
    pairs = [("text", node(1), node(0))]
    assert pairs_of(edge_table(pairs)) == pairs
