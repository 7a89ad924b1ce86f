"""Prose is what is no table, no code and no list of names; a place in it is found again in the whole text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.document import Document, TextNode
from obelics_pipeline.filters.prose import Prose, is_name, is_prose
from obelics_pipeline.filters.text import Text


def of_nodes(*nodes: TextNode) -> Text:
    document = Document("0" * 32, "http://a.example/", "w", 0, 1, list(nodes))
    return Text(document.text(), document=document)


@pytest.mark.parametrize(
    ("paragraph", "expected"),
    [
        ("Add to cart", True),
        ("It is a sentence.", True),
        ("Price\t12", False),
        ("Jib\t12 m\nMainsail\t20 m", False),
        ("for sail in sails:\n    hoist(sail)", False),
        ("Jib 12 m\nMainsail 20 m\nHalyard", False),
        ("Jib 12 m\nThe mainsail is large.\nIt is red!”\n", True),
        ("One is a sentence.\nTwo\nThree", False),
    ],
)
def test_tables_code_and_lists_of_names_are_no_prose(paragraph: str, expected: bool) -> None:
    assert is_prose(paragraph) is expected


def test_prose_is_the_same_of_nodes_and_of_the_row_that_is_published_of_them() -> None:
    nodes = of_nodes(TextNode("Sails"), TextNode("Jib\nGenoa", "list"), TextNode("They are red."))
    row = of_nodes(TextNode("Sails\n\nJib\nGenoa\n\nThey are red."))
    assert Prose.of(nodes) == Prose.of(row)


def test_prose_of_a_document_is_that_of_its_kept_nodes_and_of_other_texts_all() -> None:
    text = of_nodes(
        TextNode("Sails"),
        TextNode("Jib\nGenoa", "list"),
        TextNode("A menu.", reason="word_count"),
        TextNode("They are red."),
    )
    assert text.text == "Sails\n\nJib\nGenoa\n\nThey are red."
    assert Prose.of(text).text == "Sails\n\nThey are red."
    assert Prose.of(Text("Jib\nGenoa")).text == "Jib\nGenoa"


def test_four_names_in_a_row_are_a_list_and_three_are_a_title_with_what_stands_below() -> None:
    title = [TextNode("Sails"), TextNode("by Ann"), TextNode("A picture"), TextNode("They are red.")]
    goods = [TextNode("Jib $12"), TextNode("Genoa $15"), TextNode("Lug $9"), TextNode("Spinnaker $30")]
    assert Prose.of(of_nodes(*title)).text == "Sails\n\nby Ann\n\nA picture\n\nThey are red."
    assert Prose.of(of_nodes(*title, *goods)).text == Prose.of(of_nodes(*title)).text
    assert Prose.of(of_nodes(*goods, *title[-1:])).text == "They are red."


@pytest.mark.parametrize(
    ("paragraph", "expected"),
    [
        ("Jib $12", True),
        ("It is red.", False),
        ("Is it red?”", False),
        (" ".join(["sail"] * 19), True),
        (" ".join(["sail"] * 20), False),
    ],
)
def test_a_name_has_few_words_and_does_not_end_as_a_sentence(paragraph: str, expected: bool) -> None:
    assert is_name(paragraph) is expected


def test_long_paragraphs_without_a_mark_are_read_however_many_they_are() -> None:
    chains = [TextNode(f"{number} " + " ".join(["sail"] * 30)) for number in range(6)]
    assert Prose.of(of_nodes(*chains)).text == of_nodes(*chains).text


@given(st.lists(st.text("ab.\n\t", max_size=12), max_size=6), st.sets(st.integers(0, 60), max_size=8))
def test_a_range_of_the_prose_is_of_the_same_characters_in_the_whole(texts: list[str], cuts: set[int]) -> None:
    text = of_nodes(*map(TextNode, texts))
    prose = Prose.of(text)
    assert prose.text == "\n\n".join(text.text[begin:end] for begin, end in prose.parts)
    places = sorted(cut for cut in cuts if cut <= len(prose.text))
    for first, last in zip(places[::2], places[1::2], strict=False):
        said = "".join(text.text[begin:end] for begin, end in prose.in_whole([(first, last)]))
        assert said.replace("\n", "") == prose.text[first:last].replace("\n", "")
