"""Numbers of what a language model foresees, worked out by hand."""

import pytest

from obelics_pipeline.models.chat_detector.predictability import FEWEST_PIECES, MISSING, numbers_of
from obelics_pipeline.models.perplexity import Reading


def reading(*sentences: list[float]) -> Reading:
    """Sentences of pieces of these log10 probabilities, the last of each a full stop."""
    pieces = [piece for one in sentences for piece in ["▁word"] * (len(one) - 1) + ["."]]
    log10 = [value for one in sentences for value in one]
    return Reading(pieces, log10, [-2.0] * len(log10), [3] * len(log10))


HARD, EASY = [-3.0] * 20, [-1.0] * 20


def test_a_text_of_too_few_pieces_has_none() -> None:
    assert numbers_of(reading([-1.0] * (FEWEST_PIECES - 1))) is None


def test_means_deviations_and_quantiles_are_in_thousandths() -> None:
    numbers = numbers_of(reading(EASY, HARD))
    assert numbers is not None
    assert (numbers["known_mean"], numbers["known_deviation"]) == (-2000, 1000)
    assert (numbers["known_25_percent"], numbers["known_75_percent"]) == (-3000, -1000)
    assert (numbers["gained_mean"], numbers["alone_mean"], numbers["alone_deviation"]) == (0, -2000, 0)


def test_shares_of_pieces_are_counted() -> None:
    numbers = numbers_of(reading(EASY, HARD))
    assert numbers is not None
    assert (numbers["worse_than_alone"], numbers["of_alone"]) == (0.5, 1)
    assert (numbers["over_1000"], numbers["under_3000"]) == (0, 0)  # equal is neither over nor under
    assert (numbers["begins"], numbers["rare"]) == (0.95, 0)
    assert (numbers["order_3"], numbers["order_1"], numbers["known_of_order_1"]) == (1, 0, MISSING)


def test_what_is_hard_to_foresee_may_stand_together_or_not() -> None:
    together, apart = numbers_of(reading(EASY, HARD)), numbers_of(reading([-1.0, -3.0] * 20))
    assert together is not None and apart is not None
    assert together["follows"] == pytest.approx(37 / 40)
    assert apart["follows"] == pytest.approx(-39 / 40)
    assert together["window_16_deviation"] > 500 and apart["window_16_deviation"] == 0


def test_sentences_differ_or_not() -> None:
    numbers = numbers_of(reading(EASY, HARD, EASY))
    assert numbers is not None
    assert numbers["sentence_step"] == 2000
    assert (numbers["sentence_low"], numbers["sentence_high"]) == (-3000, -1000)
    of_two = numbers_of(reading(EASY, HARD))
    assert of_two is not None and of_two["sentence_step"] == MISSING


def test_the_end_of_a_text_changes_no_names() -> None:
    texts = (reading(EASY, HARD), reading([-1.0] * 50), reading(*[[-1.0] * 3] * 30))
    assert len({tuple(numbers_of(one) or ()) for one in texts}) == 1
