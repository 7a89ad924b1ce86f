"""The headline and the standfirst are found by what the head says, wherever they stand, and are said once."""

import pytest

from obelics_pipeline.core.config.extraction import ExtractionConfig
from obelics_pipeline.core.document import TextNode
from obelics_pipeline.stages.extract.page import extract_page
from tests.stages.extract.written_pages import article

TITLE = "<title>A harbour that moved to the water | Coast News</title>"
DESCRIPTION = "How a town that had outgrown its quays built a basin of granite, and waited for a train."
HEAD = f"{TITLE}<meta name=description content='{DESCRIPTION}'>"
ABOVE = "<div class=banner><h1>A harbour that moved to the water</h1></div>"


def texts(body: str, head: str = HEAD, markup: str = "plain", headline: bool = True) -> list[tuple[str, str]]:
    config = ExtractionConfig.model_validate({"markup": markup, "headline": headline})
    nodes = extract_page(
        f"<html><head>{head}</head><body>{body}</body></html>", "https://coast.example/a", config
    ).nodes
    return [(node.role, node.text) for node in nodes if isinstance(node, TextNode)]


def body(title: str) -> str:
    return article().replace("<h1>The harbour</h1>", title)


def headlines(found: list[tuple[str, str]]) -> list[str]:
    return [text for role, text in found if role == "headline"]


@pytest.mark.parametrize(
    "head",
    [
        HEAD,
        "<title>Coast News - A harbour that moved to the water</title>",
        "<title>Coast News</title><meta property=og:title content='A harbour that moved to the water'>",
        "<title>About a new harbour</title>",  # other words: it is the only h1 above the content
    ],
)
def test_an_h1_outside_of_the_main_content_is_the_headline_and_comes_first(head: str) -> None:
    found = texts(ABOVE + body(""), head)
    assert found[0] == ("headline", "A harbour that moved to the water")
    assert found[1][1].startswith("Part 0. ")


def test_without_the_key_the_main_content_stays_as_it_was() -> None:
    assert headlines(texts(ABOVE + body(""), headline=False)) == []


def test_the_name_of_the_site_is_no_headline() -> None:
    name = "<meta property=og:site_name content='Coast News'>"
    assert headlines(
        texts("<h1>Coast News</h1>" + body("<h2>A harbour that moved to the water</h2>"), HEAD + name)
    ) == ["A harbour that moved to the water"]
    assert headlines(texts("<h1>Coast</h1>" + body(""), "<title>Coast</title>")) == []  # it is in the host


def test_of_two_h1_in_the_title_the_nearer_is_the_headline_and_the_other_names_the_site() -> None:
    title = "<title>A harbour that moved to the water - Manual of the coast</title>"
    both = "<h1>Manual of the coast</h1><h1>A harbour that moved to the water</h1>"
    assert headlines(texts(both + body(""), title)) == ["A harbour that moved to the water"]
    assert headlines(texts(both + body(""), title.replace("Manual of", "On"))) == ["A harbour that moved to the water"]


def test_an_h1_that_stands_twice_is_the_headline_the_first_time() -> None:
    picture = "<p><img src=/quay.jpg width=800 height=600></p>"
    html = f"<html><head>{HEAD}</head><body><main>{ABOVE}{picture}{ABOVE}{body('')}</main></body></html>"
    nodes = extract_page(html, "https://coast.example/a", ExtractionConfig()).nodes
    assert [node.role for node in nodes[:2]] == ["headline", "lead"]


def test_a_text_that_is_the_title_is_a_headline_where_no_heading_is() -> None:
    assert headlines(texts(body("<div>A harbour that moved to the water</div>"))) == [
        "A harbour that moved to the water"
    ]
    assert headlines(texts(body("<div>Another thing</div>"))) == []


def test_a_headline_is_said_once() -> None:
    path = "<ul><li><a href=/>Start</a><li>A harbour that moved to the water</ul>"
    again = "<h2>A harbour that moved to the water</h2>"
    found = texts(path + ABOVE + body(again))
    assert [text for _, text in found].count("A harbour that moved to the water") == 1


def test_the_standfirst_behind_a_headline_is_one() -> None:
    found = texts(ABOVE + f"<div class=intro><p>{DESCRIPTION}</p></div>" + body(""))
    assert [role for role, _ in found][:3] == ["headline", "standfirst", "paragraph"]
    other = texts(
        ABOVE + "<div class=intro><p>Something else that stands between the headline and it.</p></div>" + body("")
    )
    assert "standfirst" not in dict(other)


def test_in_markdown_a_headline_is_a_heading_of_the_first_level() -> None:
    assert texts(ABOVE + body(""), markup="markdown")[0][1] == "# A harbour that moved to the water"


def test_a_hostile_title_costs_no_more_than_a_short_one() -> None:
    """By its parts, all of which are compared with each heading, it took a time that grew with their third power."""
    for title in (" | ".join("abcdefgh" * 500), " " * 200_000, "word " * 50_000):
        found = texts(ABOVE + body(""), f"<title>x</title><meta property=og:title content='{title}'>" * 50)
        assert headlines(found) == ["A harbour that moved to the water"]
