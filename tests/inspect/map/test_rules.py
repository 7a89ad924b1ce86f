"""A planted region of junk is found by the bound that drops it, written as a config takes it."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.config import load_config
from obelics_pipeline.inspect.map.rules import Bound, find_rules, round_between, section_of, sites_of

N = 1000
REGION = np.arange(N) < 50


def scores(**columns: object) -> dict[str, pa.Array]:
    return {name: pa.array(values, pa.float64()) for name, values in columns.items()}


def noise(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).random(N)


def test_the_bound_that_tells_the_region_apart_is_the_best() -> None:
    junk = np.where(REGION, 0.8 + 0.1 * noise(1), 0.7 * noise(2))
    best, *others = find_rules(scores(farm_score=junk, punctuation_ratio=noise(3)), REGION)
    (bound,) = best.bounds
    assert (bound.score, bound.side) == ("farm_score", "max") and 0.69 < bound.value <= 0.8
    assert (best.precision, best.recall, best.rest_kept, best.f1) == (1.0, 1.0, 1.0, 1.0)
    assert all(rule.f1 < 1 for rule in others)


def test_a_bound_from_below_is_found_too() -> None:
    (best, *_) = find_rules(scores(word_count=np.where(REGION, 5.0, 200.0)), REGION)
    (bound,) = best.bounds
    assert (bound.side, best.recall, best.dropped_elsewhere) == ("min", 1.0, 0)
    assert 5 < bound.value <= 200


def test_two_bounds_are_found_where_each_drops_one_half() -> None:
    half = np.arange(N) < 25
    a = np.where(half, 0.9, 0.5 * noise(4))
    b = np.where(REGION & ~half, 0.1, 0.2 + 0.5 * noise(5))
    best = find_rules(scores(farm_score=a, stopword_ratio=b), REGION)[0]
    assert {(bound.score, bound.side) for bound in best.bounds} == {("farm_score", "max"), ("stopword_ratio", "min")}
    assert best.f1 == 1.0


def test_a_band_of_one_score_is_one_line() -> None:
    values = np.where(REGION, np.where(np.arange(N) % 2 == 0, 1.0, 9000.0), 100 + 100 * noise(6))
    best = find_rules(scores(word_count=values), REGION)[0]
    assert best.f1 == 1.0
    (line,) = best.lines()
    assert line.startswith("filters.document.word_count: {") and "min: " in line and "max: " in line


def test_a_null_is_kept_and_a_nan_is_dropped() -> None:
    bound = Bound("s", "min", 1.0)
    values, measured = np.array([0.0, 1.0, math.nan, 0.0]), np.array([True, True, True, False])
    assert bound.drops(values, measured).tolist() == [True, False, True, False]


def test_counts_are_those_of_the_rule_applied() -> None:
    values = [None if i % 10 == 0 else v for i, v in enumerate(np.where(REGION, noise(7) + 0.4, noise(8)).tolist())]
    for rule in find_rules(scores(farm_score=values, other=noise(9)), REGION):
        columns = {"farm_score": values, "other": noise(9).tolist()}
        dropped = np.zeros(N, bool)
        for bound in rule.bounds:
            for i, value in enumerate(columns[bound.score]):
                out = value is not None and (value < bound.value if bound.side == "min" else value > bound.value)
                dropped[i] |= out
        assert rule.dropped == (dropped & REGION).sum()
        assert rule.dropped_elsewhere == (dropped & ~REGION).sum()


@pytest.mark.parametrize("region", [np.zeros(N, bool), np.ones(N, bool)])
def test_nothing_and_everything_have_no_rule(region: np.ndarray) -> None:
    assert find_rules(scores(farm_score=noise(1)), region) == []


def test_a_score_that_is_the_same_everywhere_or_never_measured_has_no_rule() -> None:
    assert find_rules(scores(farm_score=[0.5] * N, other=[None] * N), REGION) == []


def test_a_config_takes_the_overrides() -> None:
    junk = np.where(REGION, 0.8 + 0.1 * noise(1), 0.7 * noise(2))
    names = ["farm_score", "language_score", "quality_score", "main_content_confidence"]
    rules = find_rules(scores(**dict.fromkeys(names, junk)), REGION, best=50)
    assert {rule.bounds[0].score for rule in rules} == set(names)
    for rule in rules:
        config = load_config("default", [bound.override for bound in rule.bounds])
        for bound in rule.bounds:
            assert getattr(config.filters.document[bound.score], bound.side) == bound.value


def test_scores_stand_where_a_config_has_their_bounds() -> None:
    assert section_of("farm_score") == "filters.document"
    assert section_of("site_template_share") == section_of("farm_score_in_site") == "site.document"
    assert section_of("image_text_similarity") == section_of("flamingo_image_gain") == "score.document"
    assert section_of("unsafe_image_max") == "score.document"
    assert section_of("lm_curvature") == section_of("picture_watermark_mean") == "score.document"


numbers = st.floats(-1e9, 1e9)


@given(numbers, numbers)
def test_a_round_number_lies_between(kept: float, dropped: float) -> None:
    if kept == dropped:
        return
    found = round_between(kept, dropped)
    assert min(kept, dropped) <= found <= max(kept, dropped) and found != dropped


def test_it_has_few_digits() -> None:
    assert round_between(0.70412, 0.83151) == 0.8
    assert round_between(199.0, 5.0) in (100.0, 0.0 + 100)
    assert round_between(0.0, 1e-9) == 0.0


def test_sites_with_most_documents_of_the_region_come_first() -> None:
    sites = ["a", "b", "b", "c", "b"]
    assert sites_of(sites, np.array([True, True, True, False, False])) == [("b", 2, 3), ("a", 1, 1)]
