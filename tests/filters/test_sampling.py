"""A share of the documents is kept by their ids alone: as many as asked for, the same ones in every run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from obelics_pipeline.core.config import Bounds, Threshold
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.filters.rule import build_rules
from obelics_pipeline.filters.sampling import draw, keeps

IDS = [f"{i:032x}" for i in range(4000)]
FALLING = Bounds(max=0.95, sample=[(0.5, 1.0), (0.9, 0.1)])


@pytest.mark.parametrize(
    ("score", "share"), [(0.0, 1.0), (0.5, 1.0), (0.6, 0.775), (0.7, 0.55), (0.9, 0.1), (0.95, 0.1), (0.96, 0.0)]
)
def test_as_many_are_kept_as_the_share_at_their_score_says(score: float, share: float) -> None:
    kept = sum(keeps(FALLING, score, "farm_score", doc_id) for doc_id in IDS) / len(IDS)
    assert kept == pytest.approx(share, abs=0.025)
    assert (kept in (0.0, 1.0)) == (share in (0.0, 1.0))


@given(st.floats(0, 1), st.floats(0, 1), st.sampled_from(IDS))
def test_where_the_share_falls_a_document_that_is_kept_would_be_with_a_lower_score_too(
    one: float, other: float, doc_id: str
) -> None:
    low, high = sorted((one, other))
    assert keeps(FALLING, low, "farm_score", doc_id) or not keeps(FALLING, high, "farm_score", doc_id)


def test_a_draw_is_the_same_for_ever_and_another_for_another_filter() -> None:
    assert draw("farm_score", IDS[1]) == 0.28004870568532425
    together = sum(draw("a", doc_id) < 0.5 and draw("b", doc_id) < 0.5 for doc_id in IDS) / len(IDS)
    assert together == pytest.approx(0.25, abs=0.025)


def test_without_a_sample_the_bounds_alone_decide() -> None:
    assert keeps(Bounds(max=1), 1.0, "x", IDS[0])
    assert not keeps(Bounds(max=1), 1.1, "x", IDS[0])


@pytest.mark.parametrize("points", [[], [(0.5, 1.1)], [(0.5, -0.1)], [(0.5, 1), (0.5, 0)], [(float("nan"), 1)]])
def test_points_that_say_nothing_are_refused(points: list[tuple[float, float]]) -> None:
    with pytest.raises(ValidationError):
        Bounds(sample=points)


def test_a_sample_of_paragraphs_is_refused() -> None:
    for threshold in (Threshold(sample=[(0, 0.5)]), Threshold(languages={"de": Bounds(sample=[(0, 0.5)])})):
        build_rules({"word_count": threshold}, "document")
        with pytest.raises(UserError, match=r"filters\.paragraph\.word_count\.sample: is for documents only"):
            build_rules({"word_count": threshold}, "paragraph")
