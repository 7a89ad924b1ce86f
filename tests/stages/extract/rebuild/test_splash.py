"""Pages that show a line until scripts have run, and hold their text hidden, in a noscript or in a template."""

import pytest

from obelics_pipeline.core.config.extraction import ExtractionConfig
from obelics_pipeline.core.document import TextNode
from obelics_pipeline.stages.extract.page import extract_page

WHOLE = ExtractionConfig(rules="default", scope="page")
POST = "Another sentence of a thread that a reader came for. " * 8


def texts(body: str) -> list[str]:
    page = extract_page(f"<html><body>{body}</body></html>", "https://example.org/", WHOLE)
    return [node.text for node in page.nodes if isinstance(node, TextNode)]


HOLDERS = ["<noscript>{}</noscript>", '<div style="display:none">{}</div>', "<div hidden>{}</div>"]


@pytest.mark.parametrize("holder", [*HOLDERS, "<template>{}</template>"])
def test_a_page_that_shows_a_line_is_read_from_where_it_holds_its_text(holder: str) -> None:
    assert texts("<p>Loading</p>" + holder.format(f"<p>{POST}</p>")) == ["Loading", POST.strip()]


@pytest.mark.parametrize("holder", HOLDERS)
def test_a_page_that_shows_its_text_hides_what_it_hides(holder: str) -> None:
    assert texts(f"<p>{POST}</p>" + holder.format(f"<p>{POST * 2}</p>")) == [POST.strip()]


@pytest.mark.parametrize("holder", HOLDERS)
def test_a_notice_is_no_page(holder: str) -> None:
    assert texts("<p>Loading</p>" + holder.format("<p>Please switch on scripts.</p>")) == ["Loading"]


def test_what_pops_up_over_a_page_is_not_the_page() -> None:
    assert texts(f'<p>Loading</p><div hidden class="cookie-popup">{POST}</div>') == ["Loading"]


def test_of_a_hidden_note_and_a_noscript_the_longer_is_the_page() -> None:
    body = f"<p>Loading</p><div hidden><p>{POST}</p></div><noscript><p>{POST}</p><p>{POST}</p></noscript>"
    assert texts(body) == ["Loading", POST.strip(), POST.strip()]
