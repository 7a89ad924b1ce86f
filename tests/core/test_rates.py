"""Shares with what they may be, thresholds that take what was asked, and areas that are chances."""

import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.rates import Share, auc, mean, share_above, threshold

scores = st.lists(st.integers(-5, 5).map(float) | st.floats(allow_nan=False), min_size=1, max_size=40)
shares = st.integers(0, 10**6).flatmap(lambda of: st.builds(Share, st.integers(0, of), st.just(of)))


@pytest.mark.parametrize(
    ("found", "of", "low", "high"),
    [(0, 10, 0.0, 0.2775), (1, 10, 0.0179, 0.4042), (5, 10, 0.2366, 0.7634), (15, 100, 0.0931, 0.2328)],
)
def test_the_interval_is_wilsons(found: int, of: int, low: float, high: float) -> None:
    assert Share(found, of).interval() == pytest.approx((low, high), abs=1e-4)


@given(shares, st.floats(0, 6))
def test_an_interval_has_the_share_in_it_and_stays_between_none_and_all(share: Share, z: float) -> None:
    low, high = share.interval(z)
    assert 0 <= low <= high <= 1
    assert share.of == 0 or low <= share.value <= high


@given(shares.filter(lambda share: share.of > 0))
def test_the_ends_of_an_interval_are_the_shares_that_are_just_so_far_off(share: Share) -> None:
    """What the interval is made by: at either end, the distance is z standard deviations of that end."""
    for end in share.interval(2.0):
        assert (share.value - end) ** 2 == pytest.approx(4 * end * (1 - end) / share.of, rel=1e-6, abs=1e-12)


@given(shares)
def test_the_interval_of_the_others_is_the_mirror_image(share: Share) -> None:
    low, high = Share(share.of - share.found, share.of).interval()
    assert share.interval() == pytest.approx((1 - high, 1 - low), abs=1e-9)


def test_of_nothing_there_is_no_share_and_anything_may_be() -> None:
    assert math.isnan(Share(0, 0).value)
    assert Share(0, 0).interval() == (0.0, 1.0)


@pytest.mark.parametrize(("found", "of"), [(2, 1), (-1, 1), (1, 0)])
def test_more_than_there_are_is_refused(found: int, of: int) -> None:
    with pytest.raises(ValueError, match=f"{found} of {of} is no share"):
        Share(found, of)


def test_what_is_equal_is_not_above() -> None:
    assert share_above([0.1, 0.5, 0.5, 0.9], 0.5) == Share(1, 4)
    assert share_above(iter([]), 0.5) == Share(0, 0)


@given(scores, st.integers(0, 100))
def test_a_threshold_takes_no_more_than_was_asked_and_no_smaller_score_would_do(honest: list[float], of: int) -> None:
    found = threshold(honest, of / 100)
    assert found in honest
    assert 100 * share_above(honest, found).found <= of * len(honest)
    for smaller in (score for score in honest if score < found):
        assert 100 * share_above(honest, smaller).found > of * len(honest)


def test_a_threshold_takes_what_was_asked_where_a_product_is_a_little_too_small() -> None:
    hundred = list(map(float, range(100)))
    assert int(0.29 * 100) == 28
    assert share_above(hundred, threshold(hundred, 0.29)) == Share(29, 100)
    assert threshold(hundred, 0) == 99
    assert threshold(hundred, 1) == 0


@pytest.mark.parametrize(("honest", "share"), [([], 0.01), ([0.5], 1.01), ([0.5], -0.01), ([0.5], math.nan)])
def test_a_threshold_of_nothing_or_of_no_share_is_refused(honest: list[float], share: float) -> None:
    with pytest.raises(ValueError, match=f"a share of {share} of {len(honest)} scores"):
        threshold(honest, share)


@given(scores, scores)
def test_the_area_is_the_chance_that_one_score_is_above_another(positive: list[float], negative: list[float]) -> None:
    pairs = [(p > n) + 0.5 * (p == n) for p, n in product(positive, negative)]
    assert auc(positive, negative) == pytest.approx(sum(pairs) / len(pairs))
    assert auc(positive, negative) + auc(negative, positive) == pytest.approx(1)


def test_areas_of_known_scores() -> None:
    assert auc([1, 2, -1], [0, 1]) == pytest.approx((0.75 + 1 + 0) / 3)
    assert auc([2, 3], [0, 1]) == 1
    assert auc([1], [1]) == 0.5


@pytest.mark.parametrize(("positive", "negative"), [([], [1.0]), ([1.0], [])])
def test_an_area_of_nothing_is_refused(positive: list[float], negative: list[float]) -> None:
    with pytest.raises(ValueError, match="cannot be compared"):
        auc(positive, negative)


def test_a_mean_is_of_what_there_is() -> None:
    assert mean(iter([1, 2, 6])) == 3
    assert math.isnan(mean([]))
