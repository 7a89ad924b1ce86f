"""What only asks a reader to act goes; what says something in the shape of a button or a form stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.config.extraction import ExtractionConfig
from obelics_pipeline.core.document import TextNode
from obelics_pipeline.stages.extract.page import extract_page

WHOLE = ExtractionConfig(rules="default", scope="page")
BUTTON = '<a class="btn btn-primary" href="/start">Los geht’s</a>'
LONG = "The whole page is one form, as ASP.NET writes it." * 32


def texts(body: str) -> list[str]:
    page = extract_page(f"<html><body><p>Text.</p>{body}</body></html>", "https://example.org/", WHOLE)
    return [node.text if isinstance(node, TextNode) else node.src for node in page.nodes][1:]


@pytest.mark.parametrize(
    "call",
    [
        f"<p>{BUTTON}</p>",
        f"<div> {BUTTON} <!-- x --><br>{BUTTON}</div>",
        f"<div><span><strong>{BUTTON}</strong></span></div>",
        '<div><a class="wp-block-button" href="/a">A<svg><g><path d="M0 0"/></g></svg></a></div>',
        '<div><a role="button" href="/a"><span>A</span></a></div>',
        '<form action="/n"><h3>Every week</h3><p>Our best.</p><input type="email"><button>OK</button></form>',
    ],
)
def test_a_call_to_act_is_no_text(call: str) -> None:
    assert texts(call) == []


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        (f"<p>You may {BUTTON} now.</p>", ["You may Los geht’s now."]),
        (f"<h2>{BUTTON}</h2>", ["Los geht’s"]),
        (f"<ul><li>{BUTTON}</li></ul>", ["Los geht’s"]),
        ('<p><a href="/a">A link</a></p>', ["A link"]),
        ('<p><a class="unbuttoned" href="/a">A link</a></p>', ["A link"]),
        ('<p><a class="btn" href="#panel">A tab</a></p>', ["A tab"]),
        ('<p><a class="accordion-button" href="/q" aria-expanded="false">Why?</a></p>', ["Why?"]),
        ('<a class="card button" href="/a"><h3>Card</h3><p>Says something.</p></a>', ["Card", "Says something."]),
        (f"<div><a class=btn href=/a><img src=/a.jpg width=400></a>{BUTTON}</div>", ["https://example.org/a.jpg"]),
        ("<form><p>Search</p><input type=text></form>", ["Search"]),
        (f"<p>{LONG}</p><form><p>{LONG}</p><input type=email></form>", [LONG, LONG]),
        ("<p>Before.</p><input type=email>", ["Before."]),
    ],
)
def test_what_says_something_stays(body: str, kept: list[str]) -> None:
    assert texts(body) == kept


def test_the_link_of_a_button_is_still_counted() -> None:
    page = extract_page(f"<p>Text.</p><p>{BUTTON}</p>", "https://example.org/", WHOLE)
    assert page.links is not None
    assert page.links == extract_page('<p>Text.</p><p><a href="/start">A</a></p>', "https://example.org/", WHOLE).links


PIECES = st.sampled_from(
    ["<form>", "</form>", "<input type=email>", "<a class=btn href=/a>", "</a>", "<p>", "<div>", "</div>", "x",
     "<table>", "<span>", "</span>", "<a role=button href=/b>", "<svg>", "<br>", "<math>", "<li>"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=40))
def test_any_page_with_calls_is_extracted(pieces: list[str]) -> None:
    texts("".join(pieces))
