import pytest

from obelics_pipeline.fit.gold import Truth
from obelics_pipeline.fit.score import Figures, figures, shingle_scores

ARTICLE = "one two three four five six seven"


def test_a_perfect_output_has_perfect_figures() -> None:
    pages = [(Truth(ARTICLE), ARTICLE), (Truth(None, ("three four",), ("menu",)), ARTICLE)]
    assert figures(pages) == Figures(1, 1.0, 1.0, 1.0, 2, 1.0, 1.0, 1.0)


def test_an_empty_output_finds_nothing_and_avoids_all() -> None:
    pages = [(Truth(ARTICLE), ""), (Truth(None, ("three four",), ("menu",)), "")]
    assert figures(pages) == Figures(1, 0.0, 0.0, 0.0, 2, 0.0, 1.0, 0.5)


def test_a_page_without_output_costs_recall_only() -> None:
    found = figures([(Truth(ARTICLE), ARTICLE), (Truth(ARTICLE), "")])
    assert (found.precision, found.recall) == (1.0, 0.5)
    assert found.f1 == pytest.approx(2 / 3)


def test_pages_count_alike_however_long() -> None:
    found = figures([(Truth("one two three four"), "one two three four"), (Truth(ARTICLE), "eight " * 100)])
    assert (found.precision, found.recall) == (0.5, 0.5)


def test_snippets_count_alike_over_all_pages() -> None:
    pages = [(Truth(None, ("aa", "bb", "cc"), ("dd",)), "aa dd"), (Truth(None, ("ee",), ("ff", "gg", "hh")), "ee")]
    found = figures(pages)
    assert (found.snippets, found.found, found.avoided, found.balanced) == (8, 0.5, 0.75, 0.625)


def test_shingles_are_of_four_tokens_and_counted() -> None:
    assert shingle_scores(ARTICLE, "one two three four five") == (1.0, 0.5)
    assert shingle_scores("one two three four", "one two three four one two three four") == (0.2, 1.0)
    assert shingle_scores(ARTICLE, "seven six five four three two one") == (0.0, 0.0)


def test_a_text_of_fewer_tokens_is_one_shingle() -> None:
    assert shingle_scores("one two", "one two") == (1.0, 1.0)
    assert shingle_scores("one two", "") == (None, 0.0)
    assert shingle_scores("", "one two") == (0.0, None)


def test_no_pages_have_figures_of_nothing() -> None:
    assert figures([]) == Figures(0, 0.0, 0.0, 0.0, 0, 0.0, 0.0, 0.0)
