"""The reasons of a score are the text's own words, the stretch that is worst, and numbers that would change it."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.models.farm_detector.detector import Detector
from obelics_pipeline.models.farm_detector.evidence import probabilities
from obelics_pipeline.models.farm_detector.network import HEADS
from obelics_pipeline.models.farm_detector.plain_words import in_plain_words
from obelics_pipeline.models.farm_detector.reasons import NUMBERS, STRETCH, SUSPECTS, reasons, told
from obelics_pipeline.models.farm_detector.tokens import find_spans, find_tokens
from obelics_pipeline.models.forest import NODE, Forest
from obelics_pipeline.models.told import Told
from tests.models.farm_detector.small import WORDS, detector

TEXT = "\n\n".join(
    f"The old boat of harbour {name} sended a new house, and {name} the boat to {name}." for name in "abcdefgh"
)


def test_suspects_are_the_different_words_with_the_highest_probability_highest_first() -> None:
    told = reasons(detector(), TEXT)
    assert told is not None
    tokens = find_tokens(TEXT)
    made = detector()
    replaced = probabilities(made.network.read(made.vocabulary.read(tokens).rows))[:, HEADS.index("replaced")]
    highest: dict[str, float] = {}
    for token, probability in zip(tokens, replaced, strict=True):
        if token[0].isalpha():
            highest[token.lower()] = max(highest.get(token.lower(), 0.0), float(probability))
    expected = sorted(highest.values(), reverse=True)[:SUSPECTS]
    assert [suspect.probability for suspect in told.suspects] == [round(value, 2) for value in expected]
    assert len({suspect.word.lower() for suspect in told.suspects}) == len(told.suspects) == SUSPECTS
    assert all(suspect.word in suspect.quote for suspect in told.suspects)


def test_the_stretch_is_a_quote_of_the_text_and_no_other_is_worse() -> None:
    told = reasons(detector(), TEXT)
    assert told is not None
    assert told.stretch.quote in " ".join(TEXT.split())
    made, tokens = detector(), find_tokens(TEXT)
    likely = probabilities(made.network.read(made.vocabulary.read(tokens).rows))
    wrong = 1 - (1 - likely[:, 0]) * (1 - likely[:, 1])
    worst = max(wrong[begin : begin + STRETCH].mean() for begin in range(len(tokens) - STRETCH + 1))
    assert told.stretch.share == round(float(worst), 2)


def test_what_is_named_is_told_with_its_place() -> None:
    found = reasons(detector(), TEXT)
    assert found is not None
    places = [suspect.span for suspect in found.suspects]
    assert [TEXT[begin:end] for begin, end in places] == [suspect.word for suspect in found.suspects]
    begin, end = found.stretch.span
    assert " ".join(TEXT[begin:end].split()) == found.stretch.quote
    assert told(detector(), TEXT).spans == [*places, (begin, end)]
    assert told(detector(), "boat") == Told()


def forest_of(*trees: tuple[str, float, float, float]) -> Forest:
    """A tree per feature: (feature, threshold, value at most there, value above)."""
    nodes = [
        node
        for place, (_, threshold, low, high) in enumerate(trees)
        for node in ((place, threshold, 3 * place + 1), (-1, 0, int(low * 65536)), (-1, 0, int(high * 65536)))
    ]
    return Forest(
        tuple(name for name, *_ in trees), np.array(nodes, NODE), np.arange(0, 3 * len(trees), 3, dtype=np.int32)
    )


def with_forest(forest: Forest) -> Detector:
    made = detector()
    return Detector("en", made.vocabulary, made.network, forest, {})


def test_numbers_are_those_that_raise_the_score_the_weightiest_first_with_the_nearest_other_value() -> None:
    made = with_forest(
        forest_of(
            ("word_length", 9.0, 1.0, -1.0),  # short words raise it
            ("distinct_50", 0.7, 3.0, -2.0),  # few different words raise it more
            ("log_words", 1.0, 5.0, 0.0),  # a long text lowers it already
        )
    )
    told = reasons(made, TEXT)
    assert told is not None
    assert told.score == made.score(TEXT) == pytest.approx(1 / (1 + np.exp(-4)), abs=1e-5)
    assert [number.name for number in told.numbers] == ["distinct_50", "word_length"]
    first = told.numbers[0]
    assert first.value < 0.7 < first.other < 0.7001
    assert first.score == pytest.approx(1 / (1 + np.exp(1)), abs=1e-5)


def test_no_more_numbers_are_told_than_asked_for() -> None:
    names = ("word_length", "distinct_50", "log_words", "marks", "numbers")
    told = reasons(with_forest(forest_of(*((name, 1e6, 1.0, 0.0) for name in names))), TEXT)
    assert told is not None
    assert len(told.numbers) == NUMBERS


def test_a_text_without_a_score_has_no_reasons() -> None:
    assert reasons(detector(), "boat") is None
    assert reasons(detector(), "") is None


@given(
    st.lists(st.sampled_from([*WORDS, "\n", "\n\n", "<b>", "7", "ß", "漢"]), min_size=60, max_size=120).map(" ".join)
)
def test_any_text_with_a_score_has_reasons(text: str) -> None:
    assert (reasons(detector(), text) is None) == (detector().score(text) is None)


def test_spans_are_those_of_the_tokens() -> None:
    assert [TEXT[a:b] for a, b in find_spans(TEXT)] == find_tokens(TEXT)


def test_every_number_of_the_evidence_is_told_in_plain_words_of_its_own() -> None:
    evidence = detector().evidence(TEXT)
    assert evidence is not None
    told = {in_plain_words(name) for name in evidence}
    assert len(told) == len(evidence)
    assert not [words for words in told if "_" in words or "{" in words]
    with pytest.raises(KeyError):
        in_plain_words("replaced_nothing")
    with pytest.raises(KeyError):
        in_plain_words("no_such_number")


def test_reasons_are_the_same_after_a_detector_is_saved_and_loaded(tmp_path: Path) -> None:
    detector().save(tmp_path / "small.npz")
    assert reasons(Detector.load(tmp_path / "small.npz"), TEXT) == reasons(detector(), TEXT)
