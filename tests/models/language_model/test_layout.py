from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.models.language_model.layout import Layout, Marks, Span, lay_out

IMAGES = ([900, 901, 901, 902], [900, 901, 902])
MARKS = Marks(1, ("<image>",), frozenset({900, 901, 902}))


def encode(text: str) -> list[int]:
    """A token for each byte."""
    return [10 + byte for byte in text.encode()]


def text(ids: list[int]) -> str:
    return bytes(i - 10 for i in ids if 10 <= i < 300).decode()


def laid(*parts: str | int, marks: Marks = MARKS) -> Layout:
    return lay_out(parts, encode, marks, IMAGES)


def test_images_stand_at_their_places_and_a_blank_line_parts_the_texts() -> None:
    found = laid("ab", 1, 0, "cd")
    assert list(found.ids) == [1, *encode("ab"), *IMAGES[1], *IMAGES[0], *encode("\n\ncd")]
    assert found.images == (Span(3, 6, 1), Span(6, 10, 0))
    assert found.n_bytes == 6


def test_text_is_scored_and_images_are_not() -> None:
    found = laid("ab", 1, "cd")
    assert text(list(found.ids[found.scored])) == "ab\n\ncd"


def test_without_a_mark_to_begin_with_the_first_token_of_the_text_is_not_scored() -> None:
    found = laid(1, "ab", marks=Marks(None, (), MARKS.ids))
    assert text(list(found.ids[found.scored])) == "b"
    assert text(list(found.without_images().ids[found.without_images().scored])) == "b"


def test_marks_that_a_page_writes_are_not_read_as_images() -> None:
    assert text(list(laid("a<image>b").ids)) == "ab"
    found = lay_out(["ab"], lambda _: [11, 901, 12], MARKS, IMAGES)
    assert list(found.ids) == [1, 11, 12]


def test_a_mark_that_two_images_share_stands_once_between_them() -> None:
    found = lay_out(["a", 0, 0], encode, Marks(1, (), frozenset({7, 8}), shared=7), [[7, 8, 7]])
    assert list(found.ids) == [1, *encode("a"), 7, 8, 7, 8, 7]
    assert found.images == (Span(2, 5, 0), Span(5, 7, 0))


def test_a_lone_surrogate_is_a_question_mark() -> None:
    assert text(list(laid("a\ud800").ids)) == "a?"


def test_no_text_has_nothing_to_score() -> None:
    for parts in ((), (0,), (" ",), ("<image>",)):
        assert not laid(*parts).scored.any() and laid(*parts).n_bytes == 0


@given(st.lists(st.one_of(st.sampled_from([0, 1]), st.text("abc ", min_size=1)), max_size=8), st.booleans())
def test_without_its_images_a_document_has_the_same_text_and_the_same_of_it_scored(
    parts: list[str | int], begins: bool
) -> None:
    found = lay_out(parts, encode, MARKS if begins else Marks(None, (), MARKS.ids), IMAGES)
    blank = found.without_images()
    assert not blank.images and not set(blank.ids) & MARKS.ids
    assert list(blank.ids[blank.scored]) == list(found.ids[found.scored])
    assert len(blank.scored) == 0 or not blank.scored[0]  # nothing is before the first
