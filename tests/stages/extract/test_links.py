"""Links are counted once each, told from those of the page's own site, and those that look paid for are known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.config.extraction import ExtractionConfig
from obelics_pipeline.stages.extract.links import LinkCounts, count_links
from obelics_pipeline.stages.extract.page import extract_page

URL = "https://www.garden.example.com/tools/rakes"


@pytest.mark.parametrize(
    ("href", "rel", "outbound", "affiliate"),
    [
        ("/rakes", None, 0, 0),
        ("rakes.html", None, 0, 0),
        ("?page=2", None, 0, 0),
        ("https://www.garden.example.com/", None, 0, 0),
        ("//shop.example.com/x", None, 0, 0),  # another host of the same site
        ("HTTPS://WWW.GARDEN.EXAMPLE.COM:443/x", None, 0, 0),
        ("https://other.example.org/", None, 1, 0),
        ("//other.example.org", None, 1, 0),
        ("https:\\\\other.example.org\\x", None, 1, 0),
        ("https://other.example.org/a?b=c", "nofollow noopener", 1, 0),
        ("https://other.example.org/", "nofollow Sponsored", 1, 1),
        ("https://shop.example.org/dp/1?tag=rakes-20", None, 1, 1),
        ("https://shop.example.org/?a=1&AFF_ID=7", None, 1, 1),
        ("https://shop.example.org/?tag=", None, 1, 0),
        ("https://shop.example.org/?hashtag=x&preferred=y", None, 1, 0),
        ("/?ref=menu", None, 0, 0),  # within a site it is how a reader came
        ("/go/best-rake", None, 0, 1),
        ("https://www.garden.example.com/recommends/rake", None, 0, 1),
        ("/go/", None, 0, 0),
        ("/gold/rake", None, 0, 0),
        ("/rakes", "sponsored", 0, 1),
        ("https://[::1/x", None, 1, 0),
    ],
)
def test_a_link(href: str, rel: str | None, outbound: int, affiliate: int) -> None:
    assert count_links([(href, rel)], URL) == LinkCounts(1, outbound, affiliate)


@pytest.mark.parametrize("href", ["", "#top", "javascript:void(0)", "JavaScript:x", "mailto:a@b.example", "tel:1"])
def test_what_leads_to_no_page_is_no_link(href: str) -> None:
    assert count_links([(href, "sponsored")], URL) == LinkCounts()


@given(st.lists(st.tuples(st.text(max_size=60), st.none() | st.text(max_size=20))), st.text(max_size=40))
def test_any_links_are_counted(links: list[tuple[str, str | None]], url: str) -> None:
    counts = count_links(links, url)
    assert 0 <= counts.outbound_link_count <= counts.link_count <= len(links)
    assert 0 <= counts.affiliate_link_count <= counts.link_count


def test_links_in_navigation_and_hidden_ones_are_not_counted() -> None:
    page = """<body><nav><a href=/a>a</a></nav><p>x <a href=//other.example.org/ rel="x sponsored">b</a></p>
    <p hidden><a href=/c>c</a></p><div style="display:none"><a href=/d>d</a></div><a href=/e><img src=i.jpg></a>
    <a name=f>no address</a><footer><a href=/g>g</a></footer>"""
    assert extract_page(page, URL, ExtractionConfig()).links == LinkCounts(3, 1, 1)
    assert extract_page(page, URL, ExtractionConfig(rules="obelics")).links is None
