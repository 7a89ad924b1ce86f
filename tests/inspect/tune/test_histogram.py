"""A histogram shows every value once, on a scale on which a person sees them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.inspect.tune.histogram import BINS, histogram

VALUES = st.lists(st.one_of(st.just(float("nan")), st.floats(-1e6, 1e6), st.integers(0, 5).map(float)), max_size=60)


@given(VALUES, st.sampled_from([None, True, False]))
def test_every_value_is_in_one_bin(values: list[float], log: bool | None) -> None:
    scores = np.array(values, float)
    kept = np.arange(len(scores)) % 2 == 0
    found = histogram(scores, kept, log)
    there = ~np.isnan(scores)
    assert found.all.sum() == there.sum()
    assert found.kept.sum() == (there & kept).sum()
    assert found.without == (~there).sum()
    assert (np.diff(found.edges) > 0).all()
    assert (found.kept <= found.all).all()


def test_a_wide_spread_is_shown_on_a_logarithmic_scale_and_zero_has_a_bin() -> None:
    scores = np.array([0.0, 1, 2, 3, 4, 5, 100_000])
    found = histogram(scores, np.ones(7, bool))
    assert found.log
    assert (found.edges[0], found.all[0]) == (0, 1)
    assert not histogram(scores, np.ones(7, bool), log=False).log


def test_few_whole_numbers_have_a_bin_each() -> None:
    found = histogram(np.array([1.0, 1, 2, 5]), np.ones(4, bool))
    assert found.edges.tolist() == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]
    assert found.all.tolist() == [2, 1, 0, 0, 1]
    assert len(histogram(np.linspace(0, 1, 500), np.ones(500, bool)).all) == BINS
