"""Pages of plain kinds are told, and what cannot be told has no kind."""

import pytest

from obelics_pipeline.core.config.extraction import ExtractionConfig
from obelics_pipeline.models.page_type import PageType
from obelics_pipeline.stages.extract import page_type as module
from obelics_pipeline.stages.extract.page import extract_page
from tests.stages.extract.written_pages import article, forum, links, page, paragraph


def told(html: str, url: str, **config: str) -> PageType | None:
    return extract_page(html, url, ExtractionConfig.model_validate(config)).page_type


def typed(name: str, more: str = "") -> str:
    return f'<script type="application/ld+json">{{"@context": "https://schema.org", "@type": "{name}"{more}}}</script>'


ARTICLE = page(article(), "<meta property=og:type content=article>" + typed("NewsArticle"))
ADDRESS = "https://www.example.com/2024/05/how-the-old-harbour-was-built"
OFFER = ', "offers": {"@type": "Offer", "price": "19.90"}'
PRODUCT = page(
    links("menu")
    + f"<div class=product><h1>Brass lantern</h1><span class=price>$19.90</span><p>{paragraph(1)[:90]}</p>"
    + "<ul><li>12 cm<li>340 g<li>$4.50 to send</ul><button>+</button></div>",
    "<meta property=og:type content=product>" + typed("Product", OFFER),
)
CODE = "".join(f"<h2 id=s{i}>lamp.light_{i}()</h2><pre><code>lamp = light(x={i});</code></pre>" for i in range(9))


@pytest.mark.parametrize(
    ("html", "url", "kind"),
    [
        (ARTICLE, ADDRESS, "article"),
        (page(forum(20)), "https://forum.example.com/t/12345", "forum"),
        (PRODUCT, "https://shop.example.com/p/8812", "product"),
        (page(CODE + "<p>" + paragraph(1)), "https://docs.example.com/lamp/3.1/light.html", "documentation"),
    ],
)
def test_pages_of_plain_kinds_are_told(html: str, url: str, kind: str) -> None:
    found = told(html, url)
    assert found is not None
    assert (found.kind, found.probability > 0.4) == (kind, True)


def test_the_declared_type_makes_it_surer() -> None:
    declared, silent = told(ARTICLE, ADDRESS), told(page(article()), ADDRESS)
    assert declared is not None and silent is not None
    assert silent.kind == "article"
    assert declared.probability > silent.probability


@pytest.mark.parametrize("html", ["", "<img src=/a.jpg>", "<footer>text</footer>"])
def test_a_page_without_main_content_has_no_kind(html: str) -> None:
    assert told(html, ADDRESS) is None


def test_where_no_main_content_is_looked_for_no_kind_is_told() -> None:
    assert told(ARTICLE, ADDRESS, scope="page") is None
    assert told(ARTICLE, ADDRESS, rules="obelics") is None


def test_a_model_of_other_numbers_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "NAMES", ("another",))
    with pytest.raises(ValueError, match=r"page_type\.json: made for other features"):
        module._forest.__wrapped__()
