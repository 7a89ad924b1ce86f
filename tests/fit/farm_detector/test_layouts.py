"""A layout changes how a text stands on the page: its words, their order and their marks stay."""

from random import Random

import pytest

from obelics_pipeline.fit.farm_detector import layouts
from obelics_pipeline.fit.farm_detector.layouts import Layout
from obelics_pipeline.fit.farm_detector.marked_text import MarkedText, marked, plain
from obelics_pipeline.fit.farm_detector.unusual import laid_out

PROSE = (
    "The harbour lay still, and nobody spoke. Two men carried a chest down the steps! Who had sent for them?\n\n"
    "In the morning the chest was gone; so were the men. It rained."
)


def spun() -> MarkedText:
    return [piece._replace(replaced=piece.text == "chest", junction=piece.text == "It") for piece in marked(PROSE)]


@pytest.mark.parametrize(
    "layout", [layouts.as_it_is, layouts.hard_wrapped, layouts.verse, layouts.bullets, layouts.without_capitals]
)
def test_words_and_marks_stay_as_they_are_whatever_the_layout(layout: Layout) -> None:
    for seed in range(20):
        made = layout(spun(), Random(seed))
        assert [p.text.lower() for p in made if p.is_word] == [p.text.lower() for p in spun() if p.is_word]
        assert [(p.replaced, p.junction) for p in made if p.is_word] == [
            (p.replaced, p.junction) for p in spun() if p.is_word
        ]


def test_hard_wrapped_lines_have_one_width_and_paragraphs_stay() -> None:
    text = plain(layouts.hard_wrapped(marked(" ".join(["word"] * 200) + "\n\nEnd."), Random(1)))
    lines = text.split("\n\n")[0].split("\n")
    assert len(lines) > 5
    assert max(map(len, lines)) - min(map(len, lines[:-1])) <= len("word ")
    assert text.endswith("\n\nEnd.")


def test_verse_has_a_few_words_to_the_line() -> None:
    lines = plain(layouts.verse(marked(PROSE), Random(1))).split("\n")
    assert len(lines) >= 5
    assert all(len(line.split()) <= layouts.VERSE[1] + 3 for line in lines)


def test_bullets_give_each_sentence_a_line() -> None:
    lines = plain(layouts.bullets(marked(PROSE), Random(1))).split("\n")
    assert [line.split(" ", 1)[1] for line in lines] == [
        "The harbour lay still, and nobody spoke.",
        "Two men carried a chest down the steps!",
        "Who had sent for them?",
        "In the morning the chest was gone; so were the men.",
        "It rained.",
    ]


def test_tables_stand_between_paragraphs_and_are_of_figures() -> None:
    for seed in range(20):
        text = plain(layouts.with_tables(spun(), Random(seed)))
        assert text.startswith(PROSE.split("\n\n")[0])
        rows = text.split(PROSE.split("\n\n")[1])[-1].strip().split("\n")
        assert len(rows) >= layouts._ROWS[0]
        assert all(any(c.isdigit() for c in row) for row in rows if row)
    assert layouts.with_tables([], Random(1)) == []


def test_no_layout_is_of_honest_texts_alone() -> None:
    random = Random(1)
    made = [plain(laid_out(spun(), random)) for _ in range(400)]
    assert 0.05 < sum(text != PROSE for text in made) / 400 < 0.3
    assert sum(text[:2] in ("- ", "* ", "• ", "1.") for text in made) > 5
    assert sum(text.islower() for text in made) > 2
