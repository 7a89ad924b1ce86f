"""Groups must be those of a plain union-find, found bucket by bucket, whatever the graph and the number of buckets."""

import random
from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.stages.dedup.components import contract, edges_by_bucket
from obelics_pipeline.stages.dedup.shuffled_rows import EDGES
from tests.stages.dedup.tables import Node, edge_table, pairs_of, shuffled

Pair = tuple[str, Node, Node]


def node(number: int) -> Node:
    """A node; their order is that of the numbers, over all columns."""
    return number // 1000, number // 100 % 10 - 5, "abcdefghij"[number // 10 % 10], number % 10


def pair(later: int, earlier: int, rule: str = "text") -> Pair:
    return rule, node(later), node(earlier)


def settle(pairs: list[Pair], buckets: int, turns: int = 60) -> tuple[list[Pair], list[int]]:
    """The edges when all is settled, and how many there were after each turn, as an engine would find them."""
    edges, sizes = edge_table(pairs), [len(pairs)]
    for turn in range(turns):
        dealt = edges_by_bucket(edges, buckets)
        assert dealt.schema.names == ["bucket", *EDGES.names]
        parts, unsettled = [], 0
        for bucket in range(buckets):
            mine = dealt.filter(pa.compute.equal(dealt["bucket"], bucket)).drop_columns(["bucket"])
            found, left = contract(mine, bucket, buckets, turn)
            assert found.schema == EDGES
            parts.append(found)
            unsettled += left
        edges = pa.concat_tables(parts)
        if unsettled == 0:
            return sorted(pairs_of(edges)), sizes
        sizes.append(edges.num_rows)
    raise AssertionError(f"not settled in {turns} turns: {sizes}")


def plainly(pairs: list[Pair]) -> list[Pair]:
    """Union-find."""
    parents: dict[tuple[str, Node], tuple[str, Node]] = {}

    def root(of: tuple[str, Node]) -> tuple[str, Node]:
        while parents.setdefault(of, of) != of:
            parents[of] = of = parents[parents[of]]
        return of

    for rule, one, other in pairs:
        a, b = sorted([root((rule, one)), root((rule, other))])
        parents[b] = a
    return sorted((rule, n, root((rule, n))[1]) for rule, n in list(parents) if root((rule, n)) != (rule, n))


_PAIRS = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 40), st.sampled_from(["text", "url"]))
    .filter(lambda p: p[0] != p[1])
    .map(lambda p: pair(max(p[:2]) * 37, min(p[:2]) * 37, p[2])),
    max_size=60,
)


@given(_PAIRS, st.integers(1, 7))
def test_groups_are_those_of_a_union_find(pairs: list[Pair], buckets: int) -> None:
    found, sizes = settle(pairs, buckets)
    assert found == plainly(pairs)
    assert max(sizes) <= len(pairs)


@pytest.mark.parametrize("buckets", [1, 5])
@pytest.mark.parametrize("kind", ["in order", "in any order", "every other one from the end"])
def test_long_chains_settle_in_few_turns(kind: str, buckets: int) -> None:
    n = 2000
    places = {
        "in order": list(range(n)),
        "in any order": random.Random(1).sample(range(n), n),
        "every other one from the end": [i // 2 if i % 2 else n - 1 - i // 2 for i in range(n)],
    }[kind]
    pairs = [pair(max(a, b), min(a, b)) for a, b in pairwise(places)]
    found, sizes = settle(pairs, buckets)
    assert found == [pair(i, 0) for i in range(1, n)]
    assert max(sizes) < n
    assert len(sizes) <= 2 * n.bit_length() + 2


def test_a_large_random_graph_settles_in_few_turns() -> None:
    random_ = random.Random(2)
    ends = [random_.sample(range(3000), 2) for _ in range(3000)]
    pairs = [pair(max(end), min(end)) for end in ends]
    found, sizes = settle(pairs, 4)
    assert found == plainly(pairs)
    assert max(sizes) <= len(pairs)
    assert len(sizes) <= 15


@pytest.mark.parametrize("buckets", [1, 3])
def test_stars_are_settled_at_once(buckets: int) -> None:
    pairs = [pair(i, 0) for i in range(1, 50)] + [pair(i, 100) for i in range(101, 120)]
    assert settle(pairs, buckets, turns=1) == (pairs, [len(pairs)])


@pytest.mark.parametrize("turn", [0, 1])
def test_what_is_settled_stays_whichever_the_turn(turn: int) -> None:
    pairs = [pair(i, 0) for i in range(1, 50)]
    dealt = edges_by_bucket(edge_table(pairs), 3)
    parts = [contract(dealt.filter(pa.compute.equal(dealt["bucket"], b)), b, 3, turn) for b in range(3)]
    assert [left for _, left in parts] == [0, 0, 0]
    assert sorted(p for found, _ in parts for p in pairs_of(found)) == pairs


def test_rules_are_graphs_of_their_own() -> None:
    pairs = [pair(1, 0, "text"), pair(2, 1, "url")]
    assert settle(pairs, 2)[0] == pairs


@given(_PAIRS, st.integers(0, 1), st.randoms(use_true_random=False))
def test_neither_order_nor_repetition_matters(pairs: list[Pair], turn: int, random_: random.Random) -> None:
    once = edge_table(sorted(set(pairs)))
    places = [i % max(once.num_rows, 1) for i in range(2 * once.num_rows)]
    other = shuffled(once, random_.sample(places, len(places)))
    found, left = contract(other, 0, 2, turn)
    assert (found.to_pylist(), left) == ((expected := contract(once, 0, 2, turn))[0].to_pylist(), expected[1])
    assert pairs_of(found) == sorted(set(pairs_of(found)))


def test_nothing_in_nothing_out() -> None:
    assert edges_by_bucket(EDGES.empty_table(), 4).num_rows == 0
    found, left = contract(EDGES.empty_table(), 0, 4, 0)
    assert found.equals(EDGES.empty_table()) and left == 0


@pytest.mark.parametrize("buckets", [1, 4])
def test_an_edge_is_sent_once_to_each_bucket_that_needs_it(buckets: int) -> None:
    edges = edge_table([pair(i, 0) for i in range(1, 50)])
    dealt = edges_by_bucket(edges, buckets).to_pylist()
    sent = [(row["bucket"], row["doc"], row["of_doc"]) for row in dealt]
    assert len(sent) == len(set(sent))
    assert len(sent) == 49 if buckets == 1 else 49 < len(sent) < 98


def test_a_document_that_is_not_settled_counts_in_its_own_bucket_only() -> None:
    pairs = [pair(30, i) for i in range(20)] + [pair(41, 40), *(pair(50 + i, 41) for i in range(20)), pair(90, 80)]
    dealt = edges_by_bucket(edge_table(pairs), 3)
    parts = [contract(dealt.filter(pa.compute.equal(dealt["bucket"], b)), b, 3, 0) for b in range(3)]
    assert sum(left for _, left in parts) == 2  # 30 and 41
