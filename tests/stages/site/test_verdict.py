"""Evidence speaks for a farm or not at all, and where nothing is known nothing is said."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.stages.site.verdict import MEAN, ODDS, SPEAKS_FROM, WITH_OTHER_SITES, probability

NAMES = [ODDS, *(x for name in SPEAKS_FROM for x in ((name,) if name == MEAN else (name, f"site_{name}")))]
PRIOR = 0.05


def judged(**values: float) -> float:
    return float(probability({name: np.array([values.get(name, np.nan)]) for name in NAMES}, PRIOR)[0])


def test_where_nothing_is_known_of_the_site_there_is_no_probability() -> None:
    assert np.isnan(judged(odds=0.9))


def test_low_scores_and_low_shares_say_nothing() -> None:
    low = judged(odds=0.001, mean=0.01, skeleton_share=0, site_skeleton_share=0)
    assert low == judged(mean=0.3, site_skeleton_share=0.3)
    assert low < PRIOR


def test_a_page_falls_by_what_it_and_its_site_repeat_and_not_by_one_alone() -> None:
    assert judged(skeleton_share=1, site_skeleton_share=1) > 0.5
    assert judged(skeleton_share=1, site_skeleton_share=0.1) < 0.5
    assert judged(skeleton_share=0.1, site_skeleton_share=1) < 0.5
    assert judged(skeleton_share=1) < 0.5  # of a site with few pages
    assert judged(site_skeleton_share=1) < 0.5  # of a page that is too short


@pytest.mark.parametrize("share", WITH_OTHER_SITES)
def test_a_page_that_others_took_text_from_does_not_fall_and_one_whose_site_scores_high_does(share: str) -> None:
    shares = {share: 1.0, f"site_{share}": 1.0}
    assert judged(mean=0.2, **shares) < 0.1
    assert judged(mean=0.9, **shares) > judged(mean=0.9)


@given(st.lists(st.floats(0, 1), min_size=len(NAMES), max_size=len(NAMES)), st.sampled_from(NAMES), st.floats(0, 1))
def test_more_of_anything_makes_it_no_less_likely(values: list[float], name: str, more: float) -> None:
    of = dict(zip(NAMES, values, strict=True))
    assert judged(**of | {name: max(of[name], more)}) >= judged(**of) - 1e-12
