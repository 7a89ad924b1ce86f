"""What moved thresholds leave, counted: as a run decides each document, and honest about what is not known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.config.filtering import Threshold
from obelics_pipeline.filters.sampling import keeps
from obelics_pipeline.inspect.tune.documents import Documents
from obelics_pipeline.inspect.tune.estimate import Contents, estimate
from tests.inspect.tune.made import documents

SCORE = st.one_of(st.none(), st.sampled_from([0.0, 0.1, 0.5, 1.0]), st.floats(-2, 2))
BOUND = st.one_of(st.none(), st.sampled_from([0.0, 0.1, 0.5, 1.0]))


def config(**document: dict[str, object]) -> RunConfig:
    return RunConfig.model_validate({"filters": {"document": document}, "images": {"min_per_document": 1}})


@st.composite
def thresholds(draw: st.DrawFn) -> Threshold:
    low, high = draw(BOUND), draw(BOUND)
    if low is not None and high is not None and low > high:
        low, high = high, low
    below = draw(BOUND) if low is None else None
    sample = draw(st.one_of(st.none(), st.just([[0.0, 1.0], [1.0, 0.2]])))
    languages = draw(st.sampled_from([{}, {"de": None}, {"de": {"min": 0.5}}]))
    return Threshold.model_validate({"min": low, "max": high, "below": below, "sample": sample, "languages": languages})


@given(
    st.lists(st.tuples(SCORE, SCORE, st.sampled_from(["en", "de", None])), min_size=1, max_size=30),
    thresholds(),
    thresholds(),
)
def test_each_document_is_decided_as_a_run_decides_it(
    rows: list[tuple[float | None, float | None, str | None]], one: Threshold, two: Threshold
) -> None:
    made = documents(
        {"word_count": [row[0] for row in rows], "stopword_ratio": [row[1] for row in rows]},
        language=[row[2] for row in rows],
    )
    rules = {"word_count": one, "stopword_ratio": two}
    found = estimate(made, config(**{name: rule.model_dump() for name, rule in rules.items()}))
    for i, (first, second, language) in enumerate(rows):
        expected = None
        for (name, rule), value in zip(rules.items(), (first, second), strict=True):
            bounds = rule.bounds_for(language)
            if (
                expected is None
                and value is not None
                and bounds is not None
                and not keeps(bounds, value, name, made.ids[i])
            ):
                expected = name
        assert found.reasons[i] == expected
        assert found.keeps[i] == (expected is None)


def test_what_a_rule_drops_alone_and_together_is_counted() -> None:
    made = documents({"word_count": [1, 1, 9, 9], "stopword_ratio": [0.0, 0.9, 0.0, 0.9]})
    found = estimate(made, config(word_count={"min": 5}, stopword_ratio={"min": 0.5}))
    words, stops = found.rules[1:]  # the first is the language's score
    assert (words.drops, words.first, words.alone) == (2, 2, 1)
    assert (stops.drops, stops.first, stops.alone) == (2, 1, 1)
    assert found.overlap.tolist() == [[0, 0, 0], [0, 2, 1], [0, 1, 2]]
    assert (found.kept.documents, found.kept.images, found.kept.tokens) == (1, 2, 100)


def test_a_document_that_would_newly_be_kept_counts_as_much_as_others_that_came_as_far() -> None:
    made = documents(
        {"word_count": [1, 9, 9, 9, 9]},
        stage=["extract", "shard", None, None, None],
        reason=["word_count", "duplicate_text", None, None, None],
    )
    found = estimate(made, config(word_count={"min": 1}))
    assert found.keeps.tolist() == [0.75, 0, 1, 1, 1]  # of four that passed the filters, three were kept
    assert found.unknown == 1
    assert found.reasons[1] == "duplicate_text"


@pytest.mark.parametrize(("reason", "stage"), [("no_text", "extract"), ("overused", "dedup"), ("word_count", "shard")])
def test_what_was_dropped_for_no_threshold_stays_dropped(reason: str, stage: str) -> None:
    made = documents({"word_count": [9.0]}, stage=[stage], reason=[reason])
    found = estimate(made, config(word_count={"min": 1}))
    assert (found.keeps[0], found.reasons[0]) == (0, reason)


def test_other_languages_than_those_to_keep_are_dropped() -> None:
    made = documents({"word_count": [9.0, 9.0]}, language=["en", "de"])
    found = estimate(made, RunConfig.model_validate({"language": {"keep": ["de"]}}))
    assert found.reasons == ["language", None]


def test_text_that_is_gone_and_images_that_are_too_few_drop_a_document() -> None:
    made = documents({"word_count": [9.0] * 4})
    left = Contents(np.array([400, 0, 100, 400]), np.array([2, 2, 0, 1]))
    found = estimate(made, config(), left)
    assert found.reasons == [None, "no_text", "image_count", None]
    assert (found.kept.images, found.kept.tokens) == (3, 200)


def test_a_document_that_would_newly_be_kept_needs_its_images_too() -> None:
    made = documents({"word_count": [1.0, 1.0]}, stage=["extract"] * 2, reason=["word_count"] * 2)
    found = estimate(made, config(word_count={"min": 1}), Contents(made.bytes, np.array([2, 0])))
    assert found.reasons == [None, "image_count"]


def test_a_document_that_its_filters_dropped_after_the_corpus_was_compared_is_weighed_again() -> None:
    made = documents({"word_count": [5.0]}, stage=["dedup"], reason=["word_count"])
    assert estimate(made, config(word_count={"min": 5})).reasons == [None]


def test_documents_that_had_too_few_images_are_weighed_again() -> None:
    made = documents({"image_count": [1.0, 1.0]}, stage=["assemble"] * 2, reason=["image_count"] * 2, images=[0, 1])
    looser = RunConfig.model_validate({"images": {"min_per_document": 1, "max_per_document": 5}})
    assert estimate(made, looser).reasons == ["image_count", None]
    assert estimate(made, RunConfig.model_validate({"images": {"min_per_document": 2}})).reasons == ["image_count"] * 2


def test_no_documents_are_no_error() -> None:
    made = Documents(documents({"word_count": [1.0]}).table.slice(0, 0))
    found = estimate(made, config(word_count={"min": 1}))
    assert (found.kept.documents, list(found.reasons)) == (0, [])
