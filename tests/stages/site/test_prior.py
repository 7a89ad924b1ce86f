"""The score in its site is the score's odds times those of the site, of which the other pages tell."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.config import SiteConfig
from obelics_pipeline.stages.site.evidence import POINTS, WEIGHT, weights_of
from obelics_pipeline.stages.site.prior import score_in_site, share_of_bad

CONFIG = SiteConfig()
site = st.lists(st.integers(0, 400 * WEIGHT), min_size=POINTS, max_size=POINTS)


def others(*scores: float) -> np.ndarray:
    row = np.zeros((1, POINTS), np.int64)
    for score in scores:
        for point, weight in weights_of(score):
            row[0, point] += weight
    return row


def in_site(score: float, *scores: float, config: SiteConfig = CONFIG) -> float:
    return float(score_in_site(np.array([score]), others(*scores), config)[0])


@pytest.mark.parametrize("score", [0.0, 0.1, 0.5, 0.97, 1.0])
def test_a_page_alone_has_the_odds_of_the_prior(score: float) -> None:
    bad, good = score * CONFIG.prior, (1 - score) * (1 - CONFIG.prior)
    assert in_site(score) == pytest.approx(bad / (bad + good), abs=1e-12)


def test_others_that_say_nothing_change_nothing() -> None:
    assert in_site(0.7, *([0.5] * 1000)) == pytest.approx(in_site(0.7), abs=1e-9)
    assert in_site(0.7, *([0.47, 0.53] * 500)) == pytest.approx(in_site(0.7), abs=0.02)


def test_honest_pages_never_make_a_page_worse() -> None:
    for n in (1, 10, 1000):
        assert in_site(0.5, *([0.2] * n)) < in_site(0.5)


def test_bad_pages_make_a_page_worse_the_more_there_are() -> None:
    values = [in_site(0.5, *([0.9] * n)) for n in (0, 1, 3, 10, 100)]
    assert values == sorted(values)
    assert values[-1] > 0.6


def test_alike_pages_count_as_few() -> None:
    """A thousand pages of an unusual but honest genre, which the score slightly doubts, do not convict each other."""
    doubted = [0.6] * 1000
    assert in_site(0.6, *doubted) < 0.5
    assert in_site(0.6, *doubted, config=SiteConfig(correlation=0)) > 0.9


def test_a_certain_score_counts_pages() -> None:
    """Where scores are certain, the share is the prior and the others, averaged; 39 to 1 is as certain as it gets."""
    config = SiteConfig(prior=0.5, strength=2, correlation=0)
    share = share_of_bad(others(*([1.0] * 30), *([0.0] * 10)), config)[0]
    assert share == pytest.approx((1 + 30) / (2 + 40), abs=0.03)


@given(site, st.floats(0, 1), st.floats(0.001, 0.999), st.floats(0.1, 100), st.floats(0, 1))
def test_the_share_is_where_prior_and_posteriors_meet(
    row: list[int], score: float, prior: float, strength: float, correlation: float
) -> None:
    config = SiteConfig(prior=prior, strength=strength, correlation=correlation)
    r = float(share_of_bad(np.array([row], np.int64), config)[0])
    assert 0 < r < 1
    n, scores = sum(row) / WEIGHT, np.clip(np.arange(POINTS) / (POINTS - 1), 0.025, 0.975)
    weight = 1 / (1 + max(n - 1, 0) * correlation)
    posterior = r * scores / (r * scores + (1 - r) * (1 - scores))
    expected = (strength * prior + weight * float(np.dot(row, posterior)) / WEIGHT) / (strength + weight * n)
    assert r == pytest.approx(expected, abs=1e-9)
    assert 0 <= in_site(score, config=config) <= 1


@given(site, st.integers(0, POINTS - 2))
def test_a_worse_score_of_another_page_never_helps(row: list[int], place: int) -> None:
    better, worse = np.array([row], np.int64), np.array([row], np.int64)
    better[0, place] += WEIGHT
    worse[0, place + 1] += WEIGHT
    assert share_of_bad(worse, CONFIG)[0] >= share_of_bad(better, CONFIG)[0] - 1e-12


def test_a_page_without_a_score_has_none_in_its_site() -> None:
    assert np.isnan(in_site(float("nan"), 0.9, 0.9))
