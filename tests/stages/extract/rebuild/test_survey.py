"""The survey never says no where a search would find something, and calls are hidden alike, compiled or not."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser, LexborNode

from obelics_pipeline.stages.extract.rebuild import calls
from obelics_pipeline.stages.extract.rebuild import survey as module
from obelics_pipeline.stages.extract.rebuild.anchors import SIGN, hide_signs
from obelics_pipeline.stages.extract.rebuild.formulas import FORMULA
from obelics_pipeline.stages.extract.rebuild.left_open import unwrap_frames
from obelics_pipeline.stages.extract.rebuild.panels import show_panels
from obelics_pipeline.stages.extract.rebuild.survey import CODE, FORMULAS, FRAMES, PANELS, SIGNS, STREAMED, survey

compiled = pytest.mark.skipif(not module.COMPILED, reason="the compiled walk was not built")

NAMES = (
    "a a a input form p div span h2 dt li button svg path math script template main aside nav pre img i b my-tag mrow "
    "section td br"
).split()
ATTRIBUTES = (
    "class=btn", "class='x btn-primary'", "class='Button'", "class=abutton", "class='ä\u2003btn'", "class=tab-pane",
    "class=faq", "class='modal collapse'", "id=Accordion1", "role=button", "role=BUTTON", "role=' TabPanel'",
    "aria-labelledby=x", "aria-expanded=true", "data-toggle", "href='#'", "href='#a'", "href=/a", "href",
    "href='javascript:x'", "href='JAVASCRIPT:x'", "type=email", "type=EMAIL", "type=text", "type='math/tex; mode'",
    "class=mwe-math-fallback-image", "class='latex'", "src='/latex.php?latex=x'", "hidden", "style='display:none'",
    "style='DISPLAY: NONE'", "id=B:0", "id=x",
)  # fmt: skip
TEXTS = ("¶", "#", "↑ ", " ", "\n", "word", "９", "x" * 1_600, "\xa0", "<!-- c -->", "&nbsp;", "日")

start = st.builds(
    lambda name, attributes: f"<{name} {' '.join(attributes)}>",
    st.sampled_from(NAMES),
    st.lists(st.sampled_from(ATTRIBUTES), max_size=3, unique=True),
)
token = st.one_of(start, start, st.sampled_from(NAMES).map("</{}>".format), st.sampled_from(TEXTS))
soup = st.lists(token, max_size=25).map("".join)


def parsed(html: str) -> tuple[LexborHTMLParser, LexborNode]:
    parser = LexborHTMLParser(html)
    assert parser.root is not None
    return parser, parser.root


def after(html: str, act: object) -> str:
    parser, root = parsed(html)
    act(parser)  # type: ignore[operator]
    return root.html or ""


@compiled
@given(soup)
@example("<aside><main>")
@example("<h2>A</h2> <!-- c --> <p hidden>x")
@example("<a href='#'>¶<b>")
@example("<a href='#'><svg><a href='#'>¶")
def test_a_search_for_what_a_page_may_not_have_finds_nothing(html: str) -> None:
    parser, root = parsed(html)
    found, before = survey(root), root.html
    assert found.may_have(FORMULAS) or not parser.css(FORMULA)
    assert found.may_have(CODE) or not parser.css("pre")
    assert found.may_have(STREAMED) or not parser.css("template[id]")
    assert found.may_have(FRAMES) or after(html, unwrap_frames) == before
    assert found.may_have(PANELS) or after(html, show_panels) == before
    assert found.may_have(SIGNS) or after(html, lambda page: hide_signs(page.css(SIGN))) == before


@compiled
@given(soup)
@example("<form><input type=EMAIL>")
@example("<form><a class=btn href=/a>x</a><input type=email>" + "<p>a</p>" * 800)
@example("<p><a class=btn href=/a><i>Buy</i></a>")
@example("<p><a class=btn href=/a>Buy<!-- c --></a>")
@example("<p> <b><a class=btn href=/a>Buy</a> <a class='x-BTN' href=/b></a></b>")
@example("<p><a class='ä\u2003btn' href=/a>Buy</a>")
@example("<li><a class=btn href=/a>Buy")
@example("<mrow><a class=btn href=/a><mrow>Buy")
@example("<p>" + "<b></b>" * 20 + "x<a class=btn href=/a>Buy</a>")
@example("<p>x" + "<b></b>" * 20 + "<a class=btn href=/a>" + "<i></i>" * 51)
@example("<p><a class=btn href=/a>" + "<i></i>" * 50)
@example("<form>" + "<div>" * 29 + "<input type=email>")
@example("<form>" + "<div>" * 30 + "<input type=email>")
def test_calls_are_hidden_as_the_reference_does(html: str) -> None:
    def compiled_way(parser: LexborHTMLParser) -> None:
        assert parser.root is not None
        module.hide_calls(parser, survey(parser.root))

    assert after(html, compiled_way) == after(html, lambda page: calls.hide_calls(page.css(calls.CALLS)))


@compiled
def test_most_pages_are_searched_for_nothing() -> None:
    page = "<main><h1>A</h1><p>b <a href=/c>d</a> <a href='#n'>e</a></p><img src=f.png alt=g><div style='color:red'>h"
    found = survey(parsed(page)[1])
    assert (found.bits, found.calls) == (0, [])


@compiled
def test_calls_up_to_a_bound_are_looked_at() -> None:
    _, root = parsed("<a class=btn href=/a>b</a>" * 2_500)
    assert len(survey(root).calls or ()) == 2_000


def test_without_the_compiled_walk_a_page_is_searched_for_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_walk", None)
    parser, root = parsed("<p><a class=btn href=/a>Buy</a>")
    found = survey(root)
    assert all(map(found.may_have, (CODE, FORMULAS, FRAMES, PANELS, SIGNS, STREAMED)))
    module.hide_calls(parser, found)
    assert "Buy" not in (root.html or "")
