from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.document import ImageNode, Node, TextNode
from obelics_pipeline.models.flamingo.layout import (
    END_OF_CHUNK,
    IMAGE,
    Layout,
    Marks,
    Piece,
    lay_out,
    pieces,
    without_literals,
)

MARKS = Marks(begin=1, image=2, end_of_chunk=3)
LITERALS = (IMAGE, END_OF_CHUNK, "</s>")


def encode(text: str) -> list[int]:
    """A token for each character, none of which is a mark."""
    return [ord(c) + 10 for c in text]


def shown(layout: Layout) -> str:
    """A layout as the text that a trainer would tokenise."""
    special = {1: "^", 2: "#", 3: "|"}
    return "".join(special[i] if i in special else chr(i - 10) for i in layout.ids.tolist())


def laid_out(parts: Sequence[Piece], marks: Marks = MARKS) -> Layout:
    return lay_out(parts, encode, marks, LITERALS)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (["one", 0, "two"], "^one#two|"),
        ([0, "one", 1, "two"], "^#one|#two|"),
        (["one", 0, 1, "two"], "^one#|#two|"),
        (["one", 0], "^one#|"),
        (["one"], "^one"),
        ([0], "^#|"),
        ([], "^"),
        ([" one \n", 0, "\ttwo "], "^one#two|"),
    ],
)
def test_marks_stand_where_the_trainer_puts_them(parts: list[Piece], expected: str) -> None:
    assert shown(laid_out(parts)) == expected


def test_text_is_scored_and_marks_are_not() -> None:
    layout = laid_out(["ab", 5, "c", 7])
    assert shown(layout) == "^ab#c|#|"
    assert layout.scored.tolist() == [False, True, True, False, True, False, False, False]
    assert layout.images == (5, 7)
    assert layout.targets().tolist() == encode("abc")


def test_without_a_token_to_begin_with_the_first_is_not_scored() -> None:
    marks = Marks(None, 2, 3)
    assert laid_out(["ab"], marks).scored.tolist() == [False, True]
    assert laid_out([0, "ab"], marks).scored.tolist() == [False, True, True, False]
    assert laid_out([], marks).scored.tolist() == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a <image> b", "a  b"),
        ("a<|endofchunk|></s>b", "ab"),
        ("<im<image>age>", ""),
        ("<image", "<image"),
        ("<IMAGE>", "<IMAGE>"),
    ],
)
def test_a_mark_that_the_page_wrote_is_removed(text: str, expected: str) -> None:
    assert without_literals(text, LITERALS).strip() == expected


@given(st.lists(st.sampled_from(["<image>", "<im", "age>", "<|endof", "chunk|>", "</s>", "x", " "]), max_size=30))
def test_no_mark_is_ever_left_in_a_text(parts: list[str]) -> None:
    left = without_literals("".join(parts), LITERALS)
    assert not any(mark in left for mark in LITERALS)


def test_a_mark_in_a_spelling_that_only_the_tokenizer_knows_is_no_image() -> None:
    layout = lay_out(["ab"], lambda text: [50, 2, 3, 51], MARKS, ())
    assert layout.ids.tolist() == [1, 50, 51]


def test_bytes_are_those_of_the_text_that_is_scored() -> None:
    assert laid_out([" né ", 0, "<image>"]).n_bytes == 3


def test_what_has_no_utf_8_is_a_question_mark() -> None:
    layout = laid_out(["a\ud800b"])
    assert layout.targets().tolist() == encode("a?b")
    assert layout.n_bytes == 3


def test_many_paragraphs_and_many_marks_take_linear_time() -> None:
    # Each takes minutes where it is quadratic; the limit of pytest-timeout is what fails.
    nodes: list[Node] = [TextNode("x" * 100) for _ in range(200_000)]
    (text,) = pieces(nodes, [])
    assert isinstance(text, str) and len(text) == 200_000 * 102 - 2
    nested = "<im" * 200_000 + "<image>" + "age>" * 200_000
    assert IMAGE not in without_literals(nested, LITERALS)


def image(src: str, reason: str | None = None) -> ImageNode:
    return ImageNode(src, src, reason=reason)


def test_texts_with_no_image_between_them_are_one() -> None:
    nodes: list[Node] = [TextNode("a"), TextNode("b"), image("i"), TextNode("c")]
    assert pieces(nodes, [4]) == ["a\n\nb", 4, "c"]


def test_an_image_that_is_not_to_be_had_leaves_no_trace() -> None:
    nodes: list[Node] = [TextNode("a"), image("i"), TextNode("b"), image("j"), TextNode("c")]
    assert pieces(nodes, [None, 0]) == ["a\n\nb", 0, "c"]


def test_what_was_dropped_is_not_read() -> None:
    nodes: list[Node] = [TextNode("a", reason="word_count"), image("i", "image_side"), image("j"), TextNode("b")]
    assert pieces(nodes, [3]) == [3, "b"]
