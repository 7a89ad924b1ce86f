"""Forms that are filled in say the same sentences again, with other words."""

from collections import Counter
from random import Random

from obelics_pipeline.fit.farm_detector.marked_text import plain, sentences
from obelics_pipeline.fit.wording_detector.forms import filled_in
from tests.fit.farm_detector.small import trusted


def test_a_form_says_its_sentences_again() -> None:
    random = Random(3)
    pages = [plain(filled_in(trusted(), random)) for _ in range(30)]
    openings = [Counter(" ".join(sentence.split()[:2]) for sentence in sentences(page)) for page in pages]
    again = sum(max(found.values()) > 2 for found in openings)
    assert again > 10
    assert all(100 <= len(page.split()) < 600 for page in pages)


def test_what_fills_a_blank_is_marked() -> None:
    pages = [filled_in(trusted(), Random(seed)) for seed in range(10)]
    assert any(piece.replaced for page in pages for piece in page)
    assert all(piece.is_word for page in pages for piece in page if piece.replaced)


def test_the_same_numbers_give_the_same_page() -> None:
    assert filled_in(trusted(), Random(5)) == filled_in(trusted(), Random(5))
