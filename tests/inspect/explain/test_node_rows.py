"""Each node is traced to the rows that it was made of, whatever was joined on the way."""

from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

import obelics_pipeline.demo
from obelics_pipeline.core.config.extraction import ExtractionConfig
from obelics_pipeline.core.document import ImageNode, TextNode
from obelics_pipeline.inspect.explain.node_rows import node_rows
from obelics_pipeline.stages.extract.page import extract_page, simplify_page

SITE = Path(obelics_pipeline.demo.__file__).parent / "site"
URL = "https://site.example/page"
PAGE = ExtractionConfig(scope="page")
STRUCTURED = """
<h2>Tools</h2><p>Before <img src="cut.png"> and after.</p>
<ul><li>one<li>two<ul><li>two and a half</ul></ul>
<table><caption>Sizes</caption><tr><td>a<td>b</tr><tr><td>c 😀<td>d</tr></table>
<pre>line one
  line two</pre><blockquote><p>quoted</p></blockquote>
<figure><img src="cut.png" alt="x"><figcaption>seen from above</figcaption></figure>
"""


FRAGMENTS = (
    *("<p>", "</p>", "<div>", "</div>", "<ul>", "<ol>", "</ul>", "<li>", "<table>", "</table>", "<tr>", "<td>", "<th>"),
    *("<caption>", "<pre>", "</pre>", "<blockquote>", "<figure>", "</figure>", "<figcaption>", "<h2>", "</h2>", "<b>"),
    *("<dl>", "<dt>", "<dd>", "<br>", '<img src="a.png">', '<img src="b.png">', "<a href=c>", "</a>", "<noscript>"),
    *("one", " two words", "three\nlines\n  here ", "\U0001f600", "漢字", "|", "`", "long " * 90),
)


@pytest.mark.parametrize("markup", ["plain", "markdown"])
@pytest.mark.parametrize("path", sorted(SITE.rglob("*.html"))[::4], ids=lambda path: path.parent.name)
def test_a_node_says_what_its_rows_say(path: Path, markup: str) -> None:
    config = ExtractionConfig(markup="markdown" if markup == "markdown" else "plain")
    html = path.read_text("utf-8", "replace")
    page = simplify_page(html, URL, config)
    nodes, rows = extract_page(html, URL, config).nodes, node_rows(page, config)
    assert len(nodes) == len(rows)
    for node, made_of in zip(nodes, rows, strict=True):
        if isinstance(node, TextNode):
            for row in made_of:
                value = page.tree.values[row]
                assert isinstance(value, str)
                assert " ".join(value.split()[:3]) in " ".join(node.text.split())


def test_lists_tables_and_texts_around_a_dropped_image_have_several_rows() -> None:
    page = simplify_page(STRUCTURED, URL, PAGE)
    nodes, rows = extract_page(STRUCTURED, URL, PAGE).nodes, node_rows(page, PAGE)
    said = {
        node.role: [page.tree.values[row] for row in made_of]
        for node, made_of in zip(nodes, rows, strict=True)
        if isinstance(node, TextNode)
    }
    assert said["list"] == ["one", "two", "two and a half"]
    assert said["table"] == ["a", "b", "c 😀", "d"]
    assert said["quote"] == ["quoted"]


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=40), st.sampled_from(["plain", "markdown"]))
def test_nodes_and_rows_agree_whatever_the_page(fragments: list[str], markup: Literal["plain", "markdown"]) -> None:
    config = ExtractionConfig(scope="page", markup=markup)
    html = "".join(fragments)
    page = simplify_page(html, URL, config)
    nodes, rows = extract_page(html, URL, config).nodes, node_rows(page, config)
    for node, made_of in zip(nodes, rows, strict=True):
        assert made_of
        for row in made_of if isinstance(node, TextNode) else ():
            assert str(page.tree.values[row]).split()[0] in node.text


def test_no_row_is_in_two_nodes_and_an_image_has_its_own() -> None:
    page = simplify_page(STRUCTURED, URL, PAGE)
    nodes, rows = extract_page(STRUCTURED, URL, PAGE).nodes, node_rows(page, PAGE)
    flat = [row for made_of in rows for row in made_of]
    assert len(flat) == len(set(flat))
    for node, made_of in zip(nodes, rows, strict=True):
        if isinstance(node, ImageNode):
            (row,) = made_of
            value = page.tree.values[row]
            assert isinstance(value, dict)
            assert value["src"] == node.unformatted_src
