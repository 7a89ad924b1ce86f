"""Bounds that would have removed suspects, with what they really cost."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.training.diagnosis.curated import folder_of, percentile
from obelics_pipeline.training.diagnosis.rules import bounds_for, removals


def test_the_rule_that_tells_the_suspects_apart_is_first_with_its_cost() -> None:
    chance = np.random.default_rng(0)
    corpus = {"repetition": chance.uniform(0, 0.1, 1000), "length": chance.uniform(0, 100, 1000)}
    corpus["repetition"][:10] = np.linspace(0.2, 0.9, 10)
    suspects = [{"repetition": float(corpus["repetition"][i]), "length": float(corpus["length"][i])} for i in range(8)]
    best, *_ = removals(corpus, suspects)
    assert best.bound.score == "repetition"
    assert best.bound.side == "max"
    assert (best.suspects, best.of_suspects) == (8, 8)
    assert best.share == 0.01  # the two others that are as far out
    assert 0.099 < best.bound.value < 0.2
    assert best.ks > 0.98


def test_a_rule_that_costs_more_than_it_gives_is_none() -> None:
    corpus = {"length": np.arange(100.0)}
    assert removals(corpus, [{"length": 40.0}, {"length": 60.0}]) == []
    assert removals(corpus, [{"length": None}]) == []
    assert removals({}, [{"length": 1.0}]) == []


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=30), st.data())
def test_a_bound_for_one_document_drops_it_and_its_cost_is_what_it_drops(
    values: list[float], data: st.DataObject
) -> None:
    value = data.draw(st.sampled_from(values))
    corpus = {"score": np.array([*values, np.nan])}
    for found in bounds_for(corpus, {"score": value}):
        kept = [v >= found.bound.value if found.bound.side == "min" else v <= found.bound.value for v in values]
        assert not kept[values.index(value)]
        assert found.share == kept.count(False) / (len(values) + 1)


def test_percentiles_stand_in_the_middle_of_equals() -> None:
    among = np.array([1.0, 2.0, 2.0, 3.0, np.nan])
    assert percentile(2.0, among) == 50
    assert percentile(9.0, among) == 100
    assert percentile(1.0, np.array([np.nan])) is None


def test_a_tar_belongs_to_the_run_whose_shards_it_lies_among() -> None:
    assert folder_of("/data/run/shards/shard-000000.tar") == "/data/run"
    assert folder_of("s3://bucket/run/shards/shard-000000.tar") == "s3://bucket/run"
    assert folder_of("/data/other/a.tar") is None
    assert folder_of("shards/a.tar") is None
