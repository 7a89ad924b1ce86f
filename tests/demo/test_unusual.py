"""Honest pages of unusual genres: their sources are told, they pass every filter, and none is taken for generated."""

import re

import pytest

from obelics_pipeline.demo.pages import pages, unusual
from obelics_pipeline.models.farm_detector.detector import FEWEST_WORDS, all_bundled
from obelics_pipeline.models.farm_detector.tokens import find_tokens, is_word

from .conftest import Extracted

SOURCE = re.compile(r"written for this demo\b.*|.+; public domain( \(United States government\))?")


def test_there_are_fifty_of_many_genres_and_all_are_pages_of_the_site() -> None:
    assert len(unusual()) == 50
    assert set(unusual()) <= {page.url for page in pages()}
    assert len({told["genre"].split(",")[0] for told in unusual().values()}) >= 20


def test_each_has_a_title_that_it_shows_and_a_source_that_is_free() -> None:
    bodies = {page.url: page.body.decode() for page in pages() if page.url in unusual()}
    for url, told in unusual().items():
        assert set(told) == {"title", "genre", "source"}, url
        assert f"<h1>{told['title']}</h1>" in bodies[url], url
        assert SOURCE.fullmatch(told["source"]), url


def test_each_is_english_with_a_picture_and_long_enough_to_be_judged(extracted: Extracted) -> None:
    for url in unusual():
        (document,) = extracted.of(url)
        assert document.language == "en", url
        assert document.images(), url
        assert sum(map(is_word, find_tokens(document.text()))) >= FEWEST_WORDS + 20, url


def test_each_passes_every_other_filter(extracted: Extracted) -> None:
    reasons = {url: extracted.of(url)[0].reason for url in unusual()}
    assert {url: reason for url, reason in reasons.items() if reason not in (None, "farm_score")} == {}


@pytest.mark.skipif("en" not in all_bundled(), reason="no detector of generated text is bundled")
def test_none_is_taken_for_generated(extracted: Extracted) -> None:
    """The detector was fitted on none of them. That their sites do not speak against them: tests/demo/test_run.py."""
    assert [url for url in unusual() if extracted.of(url)[0].reason == "farm_score"] == []
