"""The form of a document tells its genre, and thresholds may differ by it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from obelics_pipeline.core.config import Bounds, FiltersConfig, LanguageConfig, Threshold
from obelics_pipeline.core.document import TEXT_ROLES, Document, TextNode
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.filters.genre import bounds_of, genre_of
from obelics_pipeline.filters.rule import build_rules
from obelics_pipeline.stages.extract.measure import Measurer

PROSE = "The harbour lay still in the morning, and nobody who was on the quay had anything to say about it to the men."
VERSE = "\n".join(["The harbour lay still in the morning,", "and nobody said a word"] * 5)
SPOKEN = "\n".join(["“Who is it?”", "“It is the postman.”"] * 4)
PLAY = "\n".join(["ANNE: Who is it?", "THE POSTMAN: It is I."] * 4)
CHAT = "\n".join(["<anne> who is it", "<bo> me"] * 4)


def document(*nodes: tuple[str, str]) -> Document:
    texts = [TextNode(text, role) for role, text in nodes]
    return Document("0" * 32, "http://a.example/", "w", 0, 1, list(texts))


@pytest.mark.parametrize(
    ("nodes", "genre"),
    [
        ([("paragraph", PROSE)] * 8, "prose"),
        ([("paragraph", VERSE)], "verse"),
        ([("paragraph", line) for line in VERSE.split("\n")], "verse"),
        ([("paragraph", SPOKEN)], "dialogue"),
        ([("paragraph", PLAY)], "dialogue"),
        ([("paragraph", CHAT)], "dialogue"),
        ([("paragraph", PROSE), ("code", "x = 1\n" * 30)], "code"),
        ([("paragraph", PROSE), ("table", "1 | 2\n" * 30)], "table"),
        ([("list", "- one of many")] * 9, "list"),
        ([("paragraph", PROSE)] * 4 + [("list", "- one of many")] * 3, "prose"),
        ([("paragraph", "Short line of verse")] * 5, "prose"),  # too few to tell
        ([("heading", "A heading of a page")] * 9, "prose"),
        ([], "prose"),
    ],
)
def test_a_document_is_of_the_genre_that_its_form_tells(nodes: list[tuple[str, str]], genre: str) -> None:
    assert genre_of(document(*nodes)) == genre


def test_two_fifths_of_the_characters_in_code_make_it_code() -> None:
    assert genre_of(document(("paragraph", "a" * 60), ("code", "x" * 40))) == "code"
    assert genre_of(document(("paragraph", "a" * 61), ("code", "x" * 40))) == "prose"


@pytest.mark.parametrize(("line", "genre"), [("“Who is it?”", "dialogue"), ("and nobody said a word", "verse")])
def test_three_fifths_of_the_lines_tell_the_genre(line: str, genre: str) -> None:
    assert genre_of(document(("paragraph", "\n".join([line] * 6 + [PROSE] * 4)))) == genre
    assert genre_of(document(("paragraph", "\n".join([line] * 5 + [PROSE] * 5)))) == "prose"


@pytest.mark.parametrize(
    ("line", "genre"),
    [("a b " + "c" * 66, "verse"), ("a b " + "c" * 67, "prose"), ("a b c", "verse"), ("a bc", "prose")],
)
def test_a_line_of_verse_has_three_words_and_70_characters_at_most(line: str, genre: str) -> None:
    assert genre_of(document(("paragraph", "\n".join([line] * 6)))) == genre


def test_what_was_dropped_does_not_count() -> None:
    page = document(("paragraph", PROSE), ("code", "x = 1\n" * 30))
    page.nodes[1].reason = "punctuation_ratio"
    assert genre_of(page) == "prose"


@given(st.lists(st.tuples(st.sampled_from(TEXT_ROLES), st.text())))
def test_every_document_has_a_genre(nodes: list[tuple[str, str]]) -> None:
    assert genre_of(document(*nodes)) in ("prose", "verse", "dialogue", "list", "table", "code")


def test_bounds_of_a_genre_go_before_those_of_the_language_and_before_the_general_ones() -> None:
    threshold = Threshold(max=1, languages={"de": Bounds(max=2)}, genres={"verse": None, "code": Bounds(max=3)})
    assert threshold.bounds_for("de", "verse") is None
    assert threshold.bounds_for("de", "code") == Bounds(max=3)
    assert threshold.bounds_for("de", "prose") == Bounds(max=2)
    assert bounds_of(threshold, document(("paragraph", VERSE))) is None
    assert threshold.bounds_for("en", "prose") == threshold


def test_a_document_is_kept_or_dropped_by_the_bounds_of_its_genre() -> None:
    filters = FiltersConfig(document={"word_count": Threshold(max=10, genres={"verse": None})})
    measurer = Measurer(filters, LanguageConfig())
    verse, prose = document(("paragraph", VERSE)), document(("paragraph", PROSE))
    for page in (verse, prose):
        measurer.measure(page)
    assert (verse.reason, prose.reason) == (None, "word_count")
    assert verse.scores["word_count"] is not None
    measurer.decide(verse)
    assert verse.reason is None


def test_a_genre_that_is_none_and_one_of_a_paragraph_are_refused() -> None:
    with pytest.raises(ValidationError, match="'prose', 'verse', 'dialogue', 'list', 'table' or"):
        Threshold.model_validate({"genres": {"poem": None}})
    with pytest.raises(UserError, match=r"filters\.paragraph\.word_count.genres: a paragraph has no genre"):
        build_rules({"word_count": Threshold(genres={"verse": None})}, "paragraph")
