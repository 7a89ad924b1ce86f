from __future__ import annotations

from obelics_pipeline.core.document import ImageNode, Node, TextNode
from obelics_pipeline.models.similarity.neighbours import neighbours


def nodes(*parts: str) -> list[Node]:
    """`[…]` is an image, `-…` was dropped."""
    reasons = ["dropped" if part.startswith("-") else None for part in parts]
    texts = [part.removeprefix("-") for part in parts]
    return [
        ImageNode(text, text, alt_text="alt", reason=reason) if text.startswith("[") else TextNode(text, reason=reason)
        for text, reason in zip(texts, reasons, strict=True)
    ]


def test_the_text_before_and_the_text_after_an_image() -> None:
    assert neighbours(nodes("A", "[1]", "B", "[2]", "C")) == [("A", "B"), ("B", "C")]
    assert neighbours(nodes("[1]", "A")) == [("", "A")]
    assert neighbours(nodes("A", "[1]")) == [("A", "")]


def test_paragraphs_up_to_the_next_image_are_one_text() -> None:
    assert neighbours(nodes("A", "B", "[1]", "C", "D")) == [("A\n\nB", "C\n\nD")]


def test_images_of_a_gallery_share_their_neighbours() -> None:
    assert neighbours(nodes("A", "[1]", "[2]", "[3]", "B")) == [("A", "B")] * 3


def test_what_was_dropped_is_no_neighbour_and_parts_nothing() -> None:
    assert neighbours(nodes("A", "-B", "[1]", "-[2]", "-C", "D")) == [("A", "D")]
    assert neighbours(nodes("A", "-[1]", "B", "[2]")) == [("A\n\nB", "")]


def test_blank_text_is_none() -> None:
    assert neighbours(nodes("A", "[1]", " \n", "[2]", "", "B")) == [("A", "B")] * 2


def test_without_text_or_images_there_are_no_neighbours() -> None:
    assert neighbours(nodes("[1]", "[2]")) == [("", ""), ("", "")]
    assert neighbours(nodes("A", "B")) == neighbours([]) == []
