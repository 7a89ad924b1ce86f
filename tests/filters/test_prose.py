"""Prose is what is no table, no code and no list of names; a place in it is found again in the whole text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.document import TEXT_ROLES, Document, TextNode
from obelics_pipeline.filters.prose import Prose, is_prose
from obelics_pipeline.filters.text import Text
from obelics_pipeline.stages.extract.spans import spans_by_node


def of_nodes(*nodes: TextNode) -> Text:
    document = Document("0" * 32, "http://a.example/", "w", 0, 1, list(nodes))
    return Text(document.text(), document=document)


@pytest.mark.parametrize(
    ("role", "text", "expected"),
    [
        ("paragraph", "Add to cart", True),
        ("heading", "Sails", True),
        ("quote", "no end", True),
        ("table", "It is a sentence.", False),
        ("code", "It is a sentence.", False),
        ("list", "Jib 12 m\nMainsail 20 m\nHalyard", False),
        ("list", "Jib 12 m\nThe mainsail is large.\nIt is red!”\n", True),
        ("list", "One is a sentence.\nTwo\nThree", False),
    ],
)
def test_tables_code_and_lists_of_names_are_no_prose(role: str, text: str, expected: bool) -> None:
    assert is_prose(TextNode(text, role)) is expected


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


@given(
    st.lists(st.tuples(st.sampled_from(TEXT_ROLES), st.text("ab.\n", max_size=12)), max_size=6),
    st.sets(st.integers(0, 60), max_size=8),
)
def test_a_range_of_the_prose_is_of_the_same_characters_in_the_whole(
    nodes: list[tuple[str, str]], cuts: set[int]
) -> None:
    made = [TextNode(text, role) for role, text in nodes]
    text = of_nodes(*made)
    prose = Prose.of(text)
    places = sorted(cut for cut in cuts if cut <= len(prose.text))
    spans = list(zip(places[::2], places[1::2], strict=False))
    found = spans_by_node(made, list(prose.in_whole(spans)))
    expected = spans_by_node([node for node in made if is_prose(node)], spans)
    assert [of_node for node, of_node in zip(made, found, strict=True) if is_prose(node)] == expected
    assert not any(of_node for node, of_node in zip(made, found, strict=True) if not is_prose(node))
