"""Signs that link a heading to itself are no part of what it says."""

import pytest

from obelics_pipeline.core.config.extraction import ExtractionConfig
from obelics_pipeline.core.document import TextNode
from obelics_pipeline.stages.extract.page import extract_page

WHOLE = ExtractionConfig(rules="default", scope="page", headline=False)


def texts(body: str) -> list[str]:
    page = extract_page(f"<html><body>{body}</body></html>", "https://example.org/a", WHOLE)
    return [node.text for node in page.nodes if isinstance(node, TextNode)]


@pytest.mark.parametrize("sign", ["¶", "#", "§", "\N{LINK SYMBOL}", "[\N{UPWARDS ARROW}]", "<span>&para;</span>"])
def test_a_sign_that_links_within_the_page_goes(sign: str) -> None:
    assert texts(f'<h2>The quays<a href="#quays">{sign}</a></h2><p>Five of them.') == ["The quays", "Five of them."]


@pytest.mark.parametrize(
    "link", ['<a href="#c">C</a>', '<a href="#1">1</a>', '<a href="/b">¶</a>', "<a>¶</a>", '<a href="#港">港</a>']
)
def test_links_that_say_something_and_links_to_other_pages_stay(link: str) -> None:
    text = link.partition(">")[2].removesuffix("</a>")
    assert texts(f"<p>The quays {link}") == [f"The quays {text}"]


def test_a_link_around_an_image_stays() -> None:
    page = extract_page('<p>The quays <a href="#a">+<img src=/a.jpg></a>', "https://example.org/a", WHOLE)
    assert len(page.nodes) == 2
