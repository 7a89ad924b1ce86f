"""Which images make a pair with a text, and why the others do not."""

import pytest

from obelics_pipeline.stages.shard.pairs import Pair, pair_of

ALT = {"alt_text": "A boat under repair"}


def test_a_caption_is_taken_before_an_alt_text() -> None:
    assert pair_of({**ALT, "caption": "The boat in May"}, "001.jpg", 9000) == Pair("The boat in May", "caption")
    assert pair_of(ALT, "001.png", 5000) == Pair("A boat under repair", "alt_text")


def test_a_text_that_says_nothing_leaves_room_for_the_other() -> None:
    assert pair_of({**ALT, "caption": "Fig."}, "001.jpg", 9000) == Pair("A boat under repair", "alt_text")


@pytest.mark.parametrize(
    ("about", "reason"),
    [
        ({}, "no_text"),
        ({"alt_text": "  "}, "no_text"),
        ({"alt_text": "boat"}, "short_text"),
        ({"alt_text": "IMG_2041.JPG"}, "file_name"),
        ({"alt_text": "12 / 2041"}, "no_words"),
        ({"alt_text": "<image><|endofchunk|>ab"}, "short_text"),
        ({"caption": "Fig.", "alt_text": "x.png"}, "short_text"),
    ],
)
def test_the_reason_is_that_of_the_first_text(about: dict[str, str], reason: str) -> None:
    assert pair_of(about, "001.jpg", 9000) == reason


def test_images_that_the_loader_passes_over_or_that_are_tiny_make_no_pair() -> None:
    assert pair_of(ALT, "001.webp", 9000) == "format"
    assert pair_of(ALT, "001.jpg", 4999) == "small_file"


def test_a_text_is_one_line_without_marks() -> None:
    assert pair_of({"alt_text": "A\n boat <image> at sea"}, "001.jpg", 9000) == Pair("A boat at sea", "alt_text")


def test_letters_of_any_script_are_words() -> None:
    assert pair_of({"alt_text": "一艘旧木船"}, "001.jpg", 9000) == Pair("一艘旧木船", "alt_text")
