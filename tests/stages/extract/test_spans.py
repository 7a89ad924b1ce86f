"""Ranges of a document's text must be found in its paragraphs, character by character."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.document import PARAGRAPH_SEPARATOR, Document, ImageNode, Node, TextNode
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.stages.extract.measure import Measurer
from obelics_pipeline.stages.extract.spans import spans_by_node

FILTERS = {
    "paragraph": {"stopword_ratio": {"min": 0.01}, "word_count": {"min": 3}},
    "document": {
        "image_count": {"min": 1},
        "word_repetition_ratio": {"max": 0.9, "options": {"n": 3}},
        "special_character_ratio": {"max": 0.9},
    },
}
NEVER = "The harbour is never as old as the boats in it. "


@st.composite
def texts_and_spans(draw: st.DrawFn) -> tuple[list[str], list[tuple[int, int]]]:
    texts = draw(st.lists(st.text(st.sampled_from("abc"), max_size=6), max_size=6))
    length = len(PARAGRAPH_SEPARATOR.join(texts))
    edges = sorted(draw(st.lists(st.integers(0, length), max_size=12, unique=True)))
    touching = list(pairwise(edges))
    return texts, draw(st.sampled_from([touching, touching[::2], touching[1::2]]))


@given(texts_and_spans())
def test_every_character_of_a_span_is_found_again_in_its_paragraph(
    drawn: tuple[list[str], list[tuple[int, int]]],
) -> None:
    texts, spans = drawn
    expected: list[set[int]] = []
    begin = 0
    for text in texts:
        expected.append({i - begin for a, b in spans for i in range(a, b) if begin <= i < begin + len(text)})
        begin += len(text) + len(PARAGRAPH_SEPARATOR)
    found = spans_by_node([TextNode(text) for text in texts], spans)
    assert [{i for a, b in inside for i in range(a, b)} for inside in found] == expected
    for inside in found:
        edges = [edge for span in inside for edge in span]
        assert edges == sorted(edges)
        assert all(a < b for a, b in inside)


@pytest.fixture(scope="module")
def measurer() -> Measurer:
    config = RunConfig.model_validate({"filters": FILTERS})
    return Measurer(config.filters, config.language)


def document(*texts: str) -> Document:
    nodes: list[Node] = [ImageNode("http://example.org/1.jpg", "1.jpg")]
    for text in texts:
        nodes += [TextNode(text), ImageNode("http://example.org/2.jpg", "2.jpg")]
    return Document("id", "http://example.org/", "a.warc.gz", 0, 1, nodes)


def test_the_spans_of_a_document_are_those_of_its_kept_paragraphs(measurer: Measurer) -> None:
    page = document(
        "Buy boats", f"{NEVER}Buy the old\u00a0boat.", "Shop Login Register", f"Now buy the old boat! {NEVER}"
    )
    measurer.measure(page, everything=True)
    kept = [node for node in page.nodes if isinstance(node, TextNode) and node.reason is None]
    assert [node.text[:3] for node in kept] == ["The", "Now"]
    first, second = measurer.spans(page, "word_repetition_ratio")
    assert [kept[0].text[a:b] for a, b in first] == [f"{NEVER}Buy the old boat"]
    assert [kept[1].text[a:b] for a, b in second] == [f"buy the old boat! {NEVER[:-2]}"]


def test_a_phrase_that_goes_on_in_the_next_paragraph_is_told_in_both(measurer: Measurer) -> None:
    page = document("It is what the old boat", "had and what it had not: the old boat", "had to go.")
    measurer.measure(page, everything=True)
    told = measurer.spans(page, "word_repetition_ratio")
    texts = [node.text for node in page.nodes if isinstance(node, TextNode)]
    cut = [[text[a:b] for a, b in spans] for text, spans in zip(texts, told, strict=True)]
    assert cut == [["the old boat"], ["had", "the old boat"], ["had"]]


def test_a_filter_that_does_not_tell_has_no_spans(measurer: Measurer) -> None:
    page = document(NEVER, NEVER)
    measurer.measure(page)
    assert measurer.spans(page, "image_count") == [[], []]
    assert measurer.paragraph_spans(TextNode(NEVER), "en", "word_count") == []


def test_the_spans_of_a_paragraph_are_of_its_own_text_kept_or_not(measurer: Measurer) -> None:
    for reason in (None, "word_count"):
        node = TextNode("The boat, and a mast", reason=reason)
        spans = measurer.paragraph_spans(node, "en", "stopword_ratio")
        assert [node.text[a:b] for a, b in spans] == ["The", "and", "a"]
    assert measurer.paragraph_spans(TextNode("我们没有船"), "zh", "stopword_ratio") == [(0, 2)]
    assert measurer.paragraph_spans(TextNode("The boat"), None, "stopword_ratio") == []


def test_a_document_that_was_dropped_whole_has_no_paragraphs_to_tell_of(measurer: Measurer) -> None:
    page = document(" ", "\n")
    measurer.measure(page)
    assert measurer.spans(page, "special_character_ratio") == []


def test_a_name_of_no_filter_is_refused_with_those_there_are(measurer: Measurer) -> None:
    with pytest.raises(
        UserError, match=r"filters\.document: stopword_ratio is no .*image_count, word_repetition_ratio"
    ):
        measurer.spans(document(NEVER), "stopword_ratio")
    with pytest.raises(UserError, match=r"filters\.paragraph: x is no filter .*stopword_ratio, word_count"):
        measurer.paragraph_spans(TextNode(NEVER), "en", "x")
    nothing = RunConfig.model_validate({"filters": {"paragraph": {}, "document": {}}})
    with pytest.raises(UserError, match="no such filter"):
        Measurer(nothing.filters, nothing.language).spans(document(NEVER), "x")
