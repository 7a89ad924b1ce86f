"""Keys are counted by site whatever units they come from; one that is everywhere costs a constant and says nothing."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.stages.site.sharing import COMMON, SENTENCE, SITE, Shared, key_rows, share

BUCKETS = 1
Pairs = list[tuple[int, int]]


def shared(units: dict[str, Pairs], kind: int = SENTENCE) -> pa.Table:
    """The rows that come back, of (key, site) of each document of each unit."""
    tables = [
        key_rows(kind, np.array([k for k, _ in unit], np.uint64), np.array([s for _, s in unit], np.uint64), name, 1)
        for name, unit in units.items()
    ]
    return share(pa.concat_tables(tables).drop_columns(["bucket"]), "0").tables["data"]


def test_documents_and_sites_are_counted_over_units() -> None:
    found = shared({"a": [(7, 1), (7, 1), (7, 2), (8, 1)], "b": [(7, 1), (9, 3)]}).to_pylist()
    rows = {
        (row["partition"], row["site"]): (row["key"], row["documents"], row["sites"], row["other"]) for row in found
    }
    assert rows == {("a", 1): (7, 3, 2, 2), ("a", 2): (7, 1, 2, 1), ("b", 1): (7, 3, 2, 2)}


def test_a_common_key_costs_a_constant_and_is_not_told() -> None:
    pairs = [(7, site) for site in range(1, 5 * COMMON)]
    keys, sites = (np.array(values, np.uint64) for values in zip(*pairs, strict=True))
    assert key_rows(SENTENCE, keys, sites, "a", BUCKETS).num_rows == COMMON + 1
    assert shared({"a": pairs}).num_rows == 0
    assert shared({"a": pairs[: COMMON // 2], "b": pairs[COMMON // 2 : COMMON]}).num_rows == COMMON
    assert shared({"a": pairs[: COMMON // 2], "b": pairs[COMMON // 2 : COMMON + 1]}).num_rows == 0


def test_a_site_of_one_page_is_told_its_size() -> None:
    rows = key_rows(SITE, np.array([5], np.uint64), np.array([5], np.uint64), "a", BUCKETS).drop_columns(["bucket"])
    output = share(rows, "0")
    assert output.notes == {"sites": 1}
    assert output.tables["data"].to_pylist()[0]["documents"] == 1


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), max_size=30), st.integers(0, 30))
def test_any_cut_into_units_gives_the_same_counts(pairs: Pairs, cut: int) -> None:
    whole, parts = shared({"a": pairs}), shared({"a": pairs[:cut], "b": pairs[cut:]})
    columns = ["kind", "key", "site", "documents", "sites", "other"]
    assert {tuple(row.values()) for row in whole.select(columns).to_pylist()} == {
        tuple(row.values()) for row in parts.select(columns).to_pylist()
    }


def test_what_is_not_there_is_zero() -> None:
    table = shared({"a": [(7, 1), (7, 2)]}).drop_columns(["partition"])
    documents, sites, other = Shared([table]).look_up(SENTENCE, np.array([6, 7], np.uint64), 1)
    assert (documents.tolist(), sites.tolist(), other.tolist()) == ([0, 1], [0, 2], [0, 2])
    assert Shared([]).look_up(SENTENCE, np.array([7], np.uint64), 1)[0].tolist() == [0]
