"""Tabs and accordions as pages write them: what a reader opens is part of the page, what pops up over it is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from obelics_pipeline.core.config.extraction import ExtractionConfig
from obelics_pipeline.core.document import TextNode
from obelics_pipeline.stages.extract.page import extract_page
from obelics_pipeline.stages.extract.rebuild.panels import show_panels

WHOLE = ExtractionConfig(rules="default", scope="page")


def texts(body: str) -> list[str]:
    page = extract_page(f"<html><body>{body}</body></html>", "https://example.org/", WHOLE)
    return [node.text for node in page.nodes if isinstance(node, TextNode)]


@pytest.mark.parametrize("hides", ["hidden", 'style="display: none"', 'hidden style="opacity:0;DISPLAY:none"'])
@pytest.mark.parametrize(
    "said", ['role="tabpanel"', 'aria-labelledby="t"', 'role="region" aria-labelledby="t"', 'class="tab-pane fade"']
)
def test_a_panel_that_a_reader_opens_is_shown(hides: str, said: str) -> None:
    assert texts(f"<p>Before.</p><div {said} {hides}><p>The panel.</p></div>") == ["Before.", "The panel."]


def test_what_is_hidden_under_a_heading_is_shown() -> None:
    assert texts("<h3>Why?</h3><!-- x -->\n<div hidden>Because.</div>") == ["Why?", "Because."]


@pytest.mark.parametrize(
    "said",
    [
        'role="dialog" aria-labelledby="t"',
        'role="menu" class="collapse"',
        'class="modal collapse"',
        'aria-labelledby="t" class="dropdown-menu"',
        'class="price"',
        'role="alert" class="faq"',
    ],
)
def test_what_pops_up_or_is_only_hidden_stays_hidden(said: str) -> None:
    assert texts(f"<p>Before.</p><div {said} hidden><p>Not shown.</p></div>") == ["Before."]


def test_a_panel_inside_something_hidden_stays_hidden() -> None:
    assert texts('<p>Before.</p><div hidden><div role="tabpanel" hidden>Not shown.</div></div>') == ["Before."]


NAMES = st.sampled_from(["hidden", "style", "role", "class", "id", "aria-labelledby"])
VALUES = st.sampled_from(["", "display:none", "tabpanel", "region", "faq", "modal", "none", "é\0"])


@given(st.lists(st.tuples(st.sampled_from(["div", "h3", "p"]), st.dictionaries(NAMES, VALUES)), max_size=12))
def test_showing_twice_changes_nothing_more(elements: list[tuple[str, dict[str, str]]]) -> None:
    opened = ""
    for tag, said in elements:
        opened += f"<{tag} " + " ".join(f'{name}="{value}"' for name, value in said.items()) + ">x"
    parser = LexborHTMLParser(f"<html><body>{opened}</body></html>")
    show_panels(parser)
    once = parser.html
    show_panels(parser)
    assert parser.html == once
