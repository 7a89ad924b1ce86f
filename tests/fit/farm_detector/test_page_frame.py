"""The frame of a page stands around a text and between its paragraphs, and takes nothing from it."""

from random import Random

import pytest

from obelics_pipeline.fit.farm_detector.marked_text import MarkedText, marked, plain
from obelics_pipeline.fit.farm_detector.page_frame import PageFrame, framed, title_of
from tests.fit.farm_detector.small import trusted

PARAGRAPHS = ["The harbour lay still, and nobody spoke. " * 12, "In the morning the chest was gone. " * 12]


def spun() -> MarkedText:
    return [piece._replace(replaced=piece.text == "chest") for piece in marked("\n\n".join(PARAGRAPHS))]


@pytest.mark.parametrize("seed", range(20))
def test_the_text_stays_as_it_is_with_its_marks_and_lines_of_the_frame_have_none(seed: int) -> None:
    made = framed(spun(), trusted(), Random(seed))
    at = 0
    for piece in made:  # what is left of the text is found in its order
        if at < len(spun()) and piece == spun()[at]:
            at += 1
        else:
            assert not (piece.replaced or piece.junction)
    assert at == len(spun())


def test_most_pages_have_a_frame_and_none_is_mostly_frame() -> None:
    text = plain(spun())
    lengths = [len(plain(framed(spun(), trusted(), Random(seed))).split()) / len(text.split()) for seed in range(100)]
    assert sum(length > 1 for length in lengths) > 70
    assert max(lengths) < 1.5


def test_every_kind_of_line_can_be_made_of_any_text() -> None:
    frame = PageFrame(trusted(), Random(1))
    for kind in (frame.menu, frame.notice, frame.byline, frame.title, frame.teaser, frame.line):
        made = [kind() for _ in range(50)]
        assert all(line.strip() for line in made)
        assert not any(f"{{{blank}}}" in line for line in made for blank in ("site", "name", "title", "word", "day"))
        assert len(set(made)) > 10


def test_a_title_is_of_words_of_the_sentence() -> None:
    sentence = "Nobody on the quay had seen the chest"
    titles = [title_of(sentence, Random(seed)).lower() for seed in range(30)]
    assert all(title in sentence.lower() for title in titles)
    assert title_of("1 + 1", Random(1))
