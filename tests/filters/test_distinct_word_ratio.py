"""Distinct words by words, over every window of a fixed length."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.filters.distinct_word_ratio import DistinctWordRatio
from obelics_pipeline.filters.text import Text

WORDS = st.lists(st.sampled_from("boat house sea tide wind".split()), min_size=4, max_size=60)


@given(WORDS, st.integers(1, 4))
def test_it_is_the_mean_over_all_windows(words: list[str], window: int) -> None:
    shares = [len(set(words[i : i + window])) / window for i in range(len(words) - window + 1)]
    found = DistinctWordRatio(window=window).score(Text(" ".join(words)))
    assert found == pytest.approx(sum(shares) / len(shares), abs=1e-6)


def test_fewer_words_than_a_window_have_no_score() -> None:
    assert DistinctWordRatio(window=4).score(Text("the boat came")) is None
    assert DistinctWordRatio().score(Text("boat " * 99)) is None
    assert DistinctWordRatio().score(Text("boat " * 100)) == 0.01


def test_case_and_marks_do_not_make_a_word_another() -> None:
    assert DistinctWordRatio(window=3).score(Text("Boat, boat! BOAT?")) == pytest.approx(1 / 3, abs=1e-6)


def test_a_window_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="greater than 0"):
        DistinctWordRatio(window=0)


def test_a_template_that_is_filled_in_again_and_again_is_told_from_prose() -> None:
    places = "Bergen Cadiz Dakar Essen Faro Ghent Haifa Izmir Jena Kobe Lagos Malmo Nice Oslo Porto".split()
    filled = " ".join(f"Find the best hotels in {name} with our guide to {name} and book today." for name in places)
    prose = (
        "The ferry left the harbour before the fog had lifted, and two gulls sat on its rail as if they had "
        "paid. Nobody on the quay had seen a winter like it: nets were frozen to the stones, the baker sold "
        "his last loaf to the lock keeper, who gave half of it to a child that counted boats. When a letter "
        "came from the coast it was read aloud in the kitchen, twice, because grandmother hears badly since "
        "the storm took her window. Afterwards my uncle wound the clock, listened for a while, wrote down "
        "what he heard and said that spring would be late, which he says every year; this time nobody laughed "
        "at him."
    )
    told = DistinctWordRatio(window=100)
    low, high = told.score(Text(filled)), told.score(Text(prose))
    assert low is not None and high is not None and low < 0.3 < 0.5 < high
