"""A detector's score, and the places that it names."""

from obelics_pipeline.models.coherence_detector.detector import JUMPS
from tests.models.coherence_detector.small import IN_ORDER, OUT_OF_ORDER, detector


def test_sentences_out_of_order_raise_the_score() -> None:
    assert detector().score(IN_ORDER) == 0.268941  # log odds of -1
    assert detector().score(OUT_OF_ORDER) == 0.731059


def test_a_text_of_too_few_sentences_has_no_score_and_no_places() -> None:
    short = "It rained. " * 7
    assert detector().score(short) is None and detector().spans(short) == []
    assert detector().score(short + "It rained.") is not None
    assert detector().score("") is None


def test_the_sentence_that_does_not_follow_is_named_first() -> None:
    parts = IN_ORDER.split(". ")
    moved = ". ".join([*parts[:4], "From the mill we walked to the mill", *parts[4:]])
    begin, end = detector().spans(moved)[0]
    assert len(detector().spans(moved)) == JUMPS
    assert moved[begin:end].strip() in ("From the mill we walked to the mill.", f"{parts[4]}.")
