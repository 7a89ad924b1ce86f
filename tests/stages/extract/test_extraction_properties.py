"""Any page is extracted or rejected, and nothing is said that it does not say, nor in another order."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from obelics_pipeline.core.config.extraction import ExtractionConfig
from obelics_pipeline.core.document import TextNode
from obelics_pipeline.stages.extract.page import extract_page
from tests.stages.extract.claims import CONFIGS, URL, check
from tests.stages.extract.soups import soup

every = pytest.mark.parametrize("config", CONFIGS, ids=[f"{c.scope}-{c.markup}-{c.comments}" for c in CONFIGS])


@st.composite
def soups(draw: st.DrawFn) -> str:
    return soup(lambda values: draw(st.sampled_from(values)), draw(st.integers(0, 40)))


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A soup with a stretch of it cut out, doubled or put elsewhere."""
    page = draw(soups())
    start, end, at = sorted(draw(st.tuples(*[st.integers(0, len(page))] * 3)))
    cut = page[start:end]
    return draw(
        st.sampled_from(
            (page[:start] + page[end:], page[:end] + cut + page[end:], page[:at] + cut + page[at:], page[start:])
        )
    )


@every
@given(page=st.one_of(soups(), mutated()))
@settings(max_examples=100)
def test_what_is_said_is_said_by_the_page_in_its_order(page: str, config: ExtractionConfig) -> None:
    check(page, config)


@every
@given(page=st.one_of(st.text(max_size=300), st.text("<>/='\"! -abdiptv&;#x0\n", max_size=200)))
@settings(max_examples=100)
@example(page="<p>a \ud800 b")
@example(page="")
def test_any_string_is_a_page(page: str, config: ExtractionConfig) -> None:
    check(page, config)


@given(page=st.one_of(soups(), mutated()))
def test_a_page_that_says_something_is_never_emptied(page: str) -> None:
    main, whole = (
        any(isinstance(node, TextNode) for node in extract_page(page, URL, ExtractionConfig(scope=scope)).nodes)
        for scope in ("main", "page")
    )
    assert main >= whole
