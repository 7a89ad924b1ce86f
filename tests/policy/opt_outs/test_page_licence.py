"""What a page says that it is under; and what it says of others is not taken for its own."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.config import ExtractionConfig
from obelics_pipeline.stages.extract.licence.page_licence import PageLicence
from obelics_pipeline.stages.extract.page import extract_page

BY, BY_SA, NC = (f"https://creativecommons.org/licenses/{code}/4.0/" for code in ("by", "by-sa", "by-nc"))
TEXT = "<p>" + "Words of an article that goes on for a while, and then some more of them. " * 8 + "</p>"


def licence(body: str, head: str = "", rules: Any = "default") -> PageLicence:
    html = (
        f"<!doctype html><html><head><title>T</title>{head}</head><body><article>{TEXT}{body}</article></body></html>"
    )
    return extract_page(html, "https://site.example/a/b", ExtractionConfig(rules=rules), licence=True).licence


def ld(value: str) -> str:
    return f'<script type="application/ld+json">{value}</script>'


@pytest.mark.parametrize(
    ("head", "body", "name", "source"),
    [
        (f'<link rel="license" href="{BY}">', "", "cc-by-4.0", "link_rel"),
        ("", f'<p>Free: <a rel="nofollow license noopener" href="{BY_SA}">x</a></p>', "cc-by-sa-4.0", "a_rel"),
        (f'<meta name="DC.rights" content="{NC}">', "", "cc-by-nc-4.0", "meta"),
        ('<meta name="dcterms.license" content="CC BY 4.0">', "", "cc-by-4.0", "meta"),
        (ld(f'{{"@type":"NewsArticle","license":"{BY}"}}'), "", "cc-by-4.0", "json_ld"),
        (ld(f'{{"@type":"Page","mainEntity":[{{"@type":"Article","license":"{BY}"}}]}}'), "", "cc-by-4.0", "json_ld"),
        (ld(f'{{"@graph":[{{"@type":["Thing","WebPage"],"license":{{"@id":"{BY}"}}}}]}}'), "", "cc-by-4.0", "json_ld"),
        ("", f'<div itemscope itemtype="https://schema.org/Article"><a itemprop="license" href="{BY}">l</a></div>',
         "cc-by-4.0", "microdata"),
        ("", f'<p about="" typeof="x"><span property="dct:license" resource="{BY}"></span></p>', "cc-by-4.0", "rdfa"),
        ("", f'<p><a rel="cc:license" href="{BY}">CC</a></p>', "cc-by-4.0", "rdfa"),
        ("", f'<p>This work is licensed under a <a href="{BY}">CC licence</a>.</p>', "cc-by-4.0", "link"),
        ("", f'<p>Dieses Werk steht unter einer <a href="{BY}">Creative-Commons-Lizenz</a></p>', "cc-by-4.0", "link"),
        ("", f'<p>Este texto está sob uma licença <a href="{BY}">CC BY 4.0</a></p>', "cc-by-4.0", "link"),
        ("", f'<footer>© 2020 <a href="{BY}"><img src="cc.png"></a></footer>', "cc-by-4.0", "link"),
        ("", '<a rel="license" href="//en.wikipedia.org/wiki/Creative_Commons_Attribution-ShareAlike_4.0">x</a>',
         "cc-by-sa-4.0", "a_rel"),
        ('<link rel="license" href="/terms">', "", "other", "link_rel"),
    ],
)  # fmt: skip
def test_each_way_to_say_it_is_understood(head: str, body: str, name: str, source: str) -> None:
    for rules in ("default", "obelics"):
        found = licence(body, head, rules)
        assert (found.licence, found.source) == (name, source)


@pytest.mark.parametrize(
    "body",
    [
        f'<figure><img src="a.jpg"><figcaption>A. Author, <a rel="license" href="{BY}">CC BY</a></figcaption></figure>',
        f'<p>Photo by A. Author, licensed under <a href="{BY}">CC BY 4.0</a></p>',
        f'<p class="wp-caption-text">licensed under <a href="{BY}">CC BY 4.0</a></p>',
        f'<div id="comments"><p>My text is licensed: <a rel="license" href="{BY}">CC BY</a></p></div>',
        f'<p>A <a href="{BY}">deed</a> is a summary.</p>',
        f'<div itemscope itemtype="https://schema.org/ImageObject"><a itemprop="license" href="{BY}">l</a></div>',
        f'<div about="https://other.example/photo"><a rel="license" href="{BY}">l</a></div>',
        '<p>See <a href="https://creativecommons.org/licenses/">the licenses</a> of all works.</p>',
        "<p>All licensed works:</p>" + "".join(
            f'<p>This work is licensed under <a href="https://creativecommons.org/licenses/{c}/4.0/">l</a></p>'
            for c in ("by", "by-sa", "by-nc", "by-nd")
        ),
        ld(f'{{"@type":"ImageObject","license":"{BY}","contentUrl":"/x.jpg"}}'),
        ld(f'{{"@type":"Article","comment":{{"@type":"Comment","license":"{BY}"}}}}'),
        ld(f'{{"@type":"Article","citation":[{{"@type":"ScholarlyArticle","license":"{BY}"}}]}}'),
        ld(f'{{"@graph":[{{"@type":"Article","isPartOf":{{"@type":"Periodical","license":"{BY}"}}}}]}}'),
        f'<div itemscope itemtype="https://schema.org/Article"><p itemprop="isBasedOn" itemscope '
        f'itemtype="https://schema.org/CreativeWork"><a itemprop="license" href="{BY}">l</a></p></div>',
        f"<p>The address {BY} as words, licensed.</p>",
    ],
)  # fmt: skip
def test_what_is_about_another_thing_is_not_the_page_s(body: str) -> None:
    assert licence(body).licence is None


def test_a_meta_in_the_body_counts_too() -> None:
    assert licence(f'<meta name="DC.Rights" content="{NC}">').licence == "cc-by-nc-4.0"


def test_a_declaration_goes_before_a_plain_link() -> None:
    found = licence(f'<p>This work is licensed under <a href="{NC}">CC</a></p>', f'<link rel="license" href="{BY}">')
    assert (found.licence, found.all) == ("cc-by-4.0", ("cc-by-4.0",))


def test_of_several_the_strictest_counts_and_all_are_told() -> None:
    found = licence(f'<a rel="license" href="{BY}">a</a>', ld(f'{{"@type":"Article","license":"{NC}"}}'))
    assert (found.licence, found.source, found.all) == ("cc-by-nc-4.0", "json_ld", ("cc-by-4.0", "cc-by-nc-4.0"))
    assert found.to_json()["licences"] == ["cc-by-4.0", "cc-by-nc-4.0"]


def test_an_address_that_nobody_knows_counts_only_alone() -> None:
    head = f'<link rel="license" href="#terms"><link rel="license" href="{BY}">'
    assert licence("", head).all == ("cc-by-4.0",)


def test_pictures_have_licences_of_their_own() -> None:
    body = f'<figure><img src="/p/a.jpg"><figcaption><a rel="license" href="{BY}">CC</a></figcaption></figure>'
    graph = ld(f'{{"@type":"ImageObject","license":"{NC}","contentUrl":"https://cdn.example/b.jpg"}}')
    assert licence(body, graph).pictures == {
        "https://site.example/p/a.jpg": "cc-by-4.0",
        "https://cdn.example/b.jpg": "cc-by-nc-4.0",
    }


def test_nothing_is_looked_for_unless_it_is_asked_for() -> None:
    html = f'<html><head><link rel="license" href="{BY}"></head><body>{TEXT}</body></html>'
    assert extract_page(html, "https://site.example/", ExtractionConfig()).licence == PageLicence()


@pytest.mark.parametrize(
    "body",
    [
        ld('{"license":' + "[" * 100_000),
        ld('{"@type":"Article","license":' + "[" * 900 + "]" * 900 + "}"),
        ld('{"@type":"Article","license":"' + "x" * 300_000 + '"}'),
        f'<a rel="license" href="{BY}">' * 5_000,
        "<figure>" * 400 + f'<a rel="license" href="{BY}">l</a>' * 400,
        "<i>" * 300 + f'<a href="{BY}">licensed</a>',
        f'<p>{"x<br>" * 20_000}<a href="{BY}">licensed</a></p>',
        '<a rel="license" href="https://creativecommons.org/licenses/' + "by-" * 100_000 + '">',
        '<p rel="license">' + "CC BY " * 50_000,
    ],
)
def test_a_hostile_page_is_read_in_bounded_time(body: str) -> None:
    licence(body)


ATTRIBUTES = st.sampled_from(
    [
        f'rel="license" href="{BY}"',
        'itemprop=license content="CC0"',
        "itemscope itemtype=x",
        'property="cc:license"',
        "",
    ]
)
TAGS = st.sampled_from(
    ["a", "link", "meta", "div", "figure", "span", "p", "footer", "script type='application/ld+json'"]
)


@given(st.lists(st.tuples(TAGS, ATTRIBUTES, st.text(max_size=12)), max_size=30))
def test_any_soup_is_read(pieces: list[tuple[str, str, str]]) -> None:
    found = licence("".join(f"<{tag} {attributes}>{text}" for tag, attributes, text in pieces))
    assert (found.licence is None) == (found.source is None)
