"""Pages as browsers repair them: scripts run there, and main stands in no frame of the page."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.config.extraction import ExtractionConfig
from obelics_pipeline.core.document import TextNode
from obelics_pipeline.stages.extract.page import extract_page
from obelics_pipeline.stages.extract.rebuild.left_open import close_iframes

WHOLE = ExtractionConfig(rules="default", scope="page")
ARTICLE = "<main><p>The article.</p></main>"


def texts(body: str) -> list[str]:
    page = extract_page(f"<html><body>{body}</body></html>", "https://example.org/", WHOLE)
    return [node.text for node in page.nodes if isinstance(node, TextNode)]


def test_an_iframe_that_a_noscript_leaves_open_swallows_nothing_behind_it() -> None:
    assert texts(f'<noscript><iframe src="x" height="0"></noscript>{ARTICLE}') == ["The article."]


def test_an_iframe_that_is_closed_is_left_alone() -> None:
    source = b"<noscript><iframe></iframe></noscript><iframe><noscript></noscript>"
    assert close_iframes(source) is source


@pytest.mark.parametrize("tag", ["aside", "nav", "header", "footer"])
def test_a_frame_around_the_main_element_does_not_hide_it(tag: str) -> None:
    assert texts(f"<div><{tag}><p>Banner.</p><div>{ARTICLE}</div>") == ["Banner.", "The article."]


def test_a_frame_inside_the_main_element_stays_a_frame() -> None:
    assert texts("<main><p>The article.</p><aside>Related.</aside></main>") == ["The article."]


@given(st.lists(st.sampled_from([b"<noscript>", b"</noscript>", b"<iframe>", b"</iframe>", b"x"])))
def test_only_ends_of_iframes_are_added_and_none_the_second_time(pieces: list[bytes]) -> None:
    source = b"".join(pieces)
    closed = close_iframes(source)
    assert closed.replace(b"</iframe>", b"") == source.replace(b"</iframe>", b"")
    assert close_iframes(closed) == closed
