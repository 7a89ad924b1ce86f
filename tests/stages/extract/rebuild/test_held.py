"""Pages that scripts alone draw, written here as frameworks write them: what they show is in their data."""

import json
from html import escape
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from obelics_pipeline.core.config.extraction import ExtractionConfig
from obelics_pipeline.core.document import TextNode
from obelics_pipeline.stages.extract.page import extract_page
from obelics_pipeline.stages.extract.rebuild import held
from obelics_pipeline.stages.extract.rebuild.held import MOST_HELD, held_text

WHOLE = ExtractionConfig(rules="default", scope="page")
POST = ("A sentence of a post that a reader came for and that only a script would show. " * 4).strip()
OTHER = POST.replace("reader", "writer")


def texts(body: str) -> list[str]:
    page = extract_page(f"<html><body>{body}</body></html>", "https://example.org/", WHOLE)
    return [node.text for node in page.nodes if isinstance(node, TextNode)]


def linked(value: Any) -> str:
    return f'<script type="application/ld+json">{json.dumps(value)}</script>'


def state(value: Any) -> str:
    return f'<script type="application/json">{json.dumps(value)}</script>'


@pytest.mark.parametrize(
    "holder",
    [
        state({"props": {"id": 7, "post": {"kind": "text", "body": POST}}}),
        state({"status": 200, "body": json.dumps({"post": POST})}),
        state([["ShallowReactive", 1], {"post": 2}, POST]),
        f"<script>var a = 1; window.__STATE__ = {json.dumps({'post': POST})}; start()</script>",
        f'<div data-preloaded="{escape(json.dumps({"topic_1": json.dumps({"cooked": f"<p>{POST}</p>"})}))}"></div>',
        linked({"@graph": [{"@type": ["NewsArticle"], "articleBody": POST}]}),
        linked([{"@type": "http://schema.org/Product", "description": f"&lt;p&gt;{POST}&lt;/p&gt;"}]),
    ],
)
def test_a_page_that_shows_nothing_is_read_from_its_data(holder: str) -> None:
    assert texts(f"<div id=root></div>{holder}") == [POST]


def test_a_question_and_its_answers_are_read_in_their_order_under_their_title() -> None:
    question = {
        "@type": "Question",
        "name": "How?",
        "text": POST,
        "acceptedAnswer": {"@type": "Answer", "text": OTHER},
    }
    assert texts(linked({"@type": "QAPage", "mainEntity": question})) == ["How?", POST, OTHER]


def test_a_page_that_shows_its_text_is_left_as_it_is() -> None:
    assert texts(f"<p>{POST}</p>" + state({"post": OTHER * 40})) == [POST]


@pytest.mark.parametrize(
    "holder",
    [
        state({"message": "Please agree to our terms."}),
        state({"query": "query { a { b } } " * 40, "style": "a {b: c} " * 40}),
        linked({"@type": "WebPage", "description": POST}),
        linked({"@type": "NewsArticle", "isAccessibleForFree": "False", "articleBody": POST}),
        f"<script>window.x = {{post: '{POST}'}}</script>",
        f"<script>const post = {json.dumps(POST)}</script>",
        f'<script type="application/json" data-drupal-selector="s">{json.dumps({"banner": POST})}</script>',
    ],
)
def test_what_is_no_text_for_every_reader_stays_out(holder: str) -> None:
    assert texts(f"<div></div>{holder}") == []


def test_scripts_without_spaces_between_words_are_read() -> None:
    text = "東京の天気は晴れです。" * 30
    assert texts(state({"post": text})) == [text]


def test_what_is_held_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    parser = LexborHTMLParser(state([POST + str(number) for number in range(3_000)]))
    assert len(held_text(parser)) <= MOST_HELD
    monkeypatch.setattr(held, "_MOST_VALUES", 2)
    assert held_text(parser).count("<p>") == 1


@pytest.mark.parametrize("value", ["[" * 500_000, '{"a":' * 200_000, "1" * 500_000, '"[' * 200_000])
def test_a_hostile_value_is_no_text(value: str) -> None:
    assert texts(f'<div></div><script type="application/json">{value}</script>') == []


def test_data_that_would_take_too_long_to_parse_costs_itself_only() -> None:
    assert texts("<p>Loading</p>" + state({"post": f"<p>{POST}</p>" + "<div>" * 20_000})) == ["Loading"]


def test_half_characters_and_nul_do_no_harm() -> None:
    assert texts(state({"post": f"{POST} \ud800 \0"})) == [f"{POST} ?"]


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text() | st.sampled_from([POST, f"<p>{POST}</div>", f'["{POST}"]']),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(["@type", "@graph", "articleBody", "name", "a"]), inner)
    ),
    max_leaves=20,
)


@given(JSON, st.sampled_from([state, linked]))
def test_any_value_gives_the_same_text_each_time(value: Any, holder: Any) -> None:
    page = f"<html><body>{holder(value)}</body></html>"
    assert held_text(LexborHTMLParser(page)) == held_text(LexborHTMLParser(page))
    texts(holder(value))
