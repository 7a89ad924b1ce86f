"""Pages as React streams them, written here by its rules: boundaries, placeholders and parts that come later."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from obelics_pipeline.core.config.extraction import ExtractionConfig
from obelics_pipeline.core.document import TextNode
from obelics_pipeline.stages.extract.page import PageRejected, extract_page
from obelics_pipeline.stages.extract.rebuild import streamed
from obelics_pipeline.stages.extract.rebuild.streamed import is_streamed, show_parts

WHOLE = ExtractionConfig(rules="default", scope="page")
URL = "https://example.org/"


def texts(body: str) -> list[str]:
    page = extract_page(f"<html><body>{body}</body></html>", URL, WHOLE)
    return [node.text for node in page.nodes if isinstance(node, TextNode)]


def boundary(number: int, fallback: str = "<p>Loading</p>") -> str:
    return f'<!--$?--><template id="B:{number}"></template>{fallback}<!--/$-->'


def part(number: int, content: str) -> str:
    return f'<div hidden id="S:{number}">{content}</div><script>$RC("B:{number}","S:{number}")</script>'


def test_a_part_stands_where_its_boundary_was_and_the_fallback_is_gone() -> None:
    body = f"<p>Before.</p>{boundary(0, 'Wait <p>Loading</p> a bit')}<p>After.</p>{part(0, '<p>The article.</p>')}"
    assert texts(body) == ["Before.", "The article.", "After."]


def test_a_part_of_a_sentence_stays_in_its_sentence() -> None:
    body = f'<p>One <template id="P:1"></template> three.</p>{part(1, "<b>two</b>")}'
    assert texts(body) == ["One two three."]


@pytest.mark.parametrize("inner_first", [True, False])
def test_parts_inside_parts_are_shown_in_whatever_order_they_come(inner_first: bool) -> None:
    outer, inner = part(0, f"<p>Outer.</p>{boundary(2)}"), part(2, "<p>Inner.</p>")
    parts = (inner, outer) if inner_first else (outer, inner)
    assert texts(boundary(0) + "".join(parts)) == ["Outer.", "Inner."]


def test_a_placeholder_that_begins_a_part_hides_nothing_of_it() -> None:
    outer = part(0, '<template id="P:1"></template><p>Second.</p>')
    assert texts(boundary(0) + outer + part(1, "<p>First.</p>")) == ["First.", "Second."]


def test_a_boundary_inside_a_fallback_ends_before_it() -> None:
    fallback = "<!--$--><p>Loading</p><!--/$--><p>more</p>"
    assert texts(f"{boundary(0, fallback)}<p>After.</p>{part(0, '<p>The part.</p>')}") == ["The part.", "After."]


def test_roots_with_ids_of_their_own_do_not_get_each_others_parts() -> None:
    body = (
        '<p><template id="left-P:1"></template></p><p><template id="right-P:1"></template></p>'
        '<div hidden id="right-S:1">right</div><div hidden id="left-S:1">left</div>'
    )
    assert texts(body) == ["left", "right"]


def test_what_lacks_the_other_stays_as_it_is() -> None:
    body = boundary(0) + '<div hidden id="S:7"><p>No place.</p></div>'
    assert is_streamed(body.encode())
    assert texts(body) == ["Loading"]


def test_a_boundary_without_an_end_loses_nothing_behind_it() -> None:
    body = f'<!--$?--><template id="B:0"></template><p>After.</p>{part(0, "<p>The part.</p>")}'
    assert texts(body) == ["The part.", "After."]


def test_a_page_with_more_parts_than_any_react_page_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    body = boundary(0) + part(0, "<p>The part.</p>")
    monkeypatch.setattr(streamed, "_MOST_PARTS", 0)
    assert texts(body) == ["Loading"]


def test_nested_parts_are_copied_once() -> None:
    depth = 30
    places = "".join(f'<template id="P:{i:x}"></template>' for i in range(depth))
    nested = "".join(f'<div id="S:{i:x}">' for i in range(depth)) + "<p>inside</p>" + "</div>" * depth
    parser = LexborHTMLParser(f"<html><body>{places}{nested}</body></html>")
    show_parts(parser)
    assert len(parser.css("p")) == 2


PIECES = ["<!--$?-->", "<!--/$-->", "<p>", "</p>", "<table>", "<div>", "</div>", "text", "<template>", "</template>"]
IDS = ["B:0", "P:0", "S:0", "B:1", "P:1", "S:1", "S:zz"]


@given(
    st.lists(
        st.sampled_from(
            [*PIECES, *(f'<template id="{i}"></template>' for i in IDS), *(f'<div hidden id="{i}">' for i in IDS)]
        ),
        max_size=60,
    )
)
def test_any_mixture_of_places_and_parts_ends_in_a_page(pieces: list[str]) -> None:
    with suppress(PageRejected):
        texts("".join(pieces))
