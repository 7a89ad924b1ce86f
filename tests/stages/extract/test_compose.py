from collections.abc import Sequence

import numpy as np
import pytest

from obelics_pipeline.core.document import ImageNode, TextNode
from obelics_pipeline.stages.extract.compose import compose
from obelics_pipeline.stages.extract.markup import Markdown, Markup, Plain
from tests.stages.extract.trees import row_of, tree_of


def composed(
    html: str, dropped: Sequence[str] = (), images: Sequence[str] = (), markup: Markup | None = None
) -> list[str]:
    """The nodes of a snippet without the texts and with the images that begin so."""
    tree = tree_of(html)
    kept = np.ones(len(tree.rows), np.bool_)
    kept[[row_of(tree, text) for text in dropped]] = False
    chosen = {row_of(tree, src): ImageNode(src, src) for src in images}
    nodes = compose(tree, kept, chosen, markup or Plain())
    return [node.text if isinstance(node, TextNode) else f"[{node.src}]" for node in nodes]


@pytest.mark.parametrize(
    ("html", "images", "expected"),
    [
        ("<p>one<img src=/a>two</p>", ["/a"], ["one", "[/a]", "two"]),
        ("<p>one<img src=/a>two</p>", [], ["onetwo"]),
        ("<p>one <img src=/a>two<img src=/b> three</p>", [], ["one two three"]),
        ("<p>one <img src=/a>two<img src=/b> three</p>", ["/b"], ["one two", "[/b]", "three"]),
        ("<p>one <img src=/a>two<img src=/b> three</p>", ["/a"], ["one", "[/a]", "two three"]),
        ("<p>one</p><img src=/a><p>two</p>", [], ["one", "two"]),
        ("<ul><li>one <img src=/a>two<li>three</ul>", [], ["one two\nthree"]),
        ("<ul><li>one<li><img src=/a>two</ul>", ["/a"], ["one", "[/a]", "two"]),
        ("<h1>one <img src=/a>two</h1>", [], ["one two"]),
    ],
)
def test_a_text_is_cut_by_a_picture_only_where_that_stays(html: str, images: list[str], expected: list[str]) -> None:
    assert composed(html, images=images) == expected


def test_what_goes_on_after_a_dropped_text_stays() -> None:
    assert composed("<p>one<img src=/a>two<img src=/b>three</p>", dropped=["one"]) == ["twothree"]
    assert composed("<p>one<img src=/a>two<img src=/b>three</p>", dropped=["two"]) == ["one", "three"]


def test_dropped_texts_are_gone_and_the_rest_in_order() -> None:
    html = "<h2>a</h2><p>b</p><ul><li>c<li>d</ul><blockquote>e</blockquote><pre>f</pre>"
    assert composed(html) == ["a", "b", "c\nd", "e", "f"]
    assert composed(html, dropped=["b", "c"]) == ["a", "d", "e", "f"]
    assert composed(html, dropped=["a", "b", "c", "d", "e", "f"]) == []


def test_a_table_is_kept_if_most_of_its_text_is() -> None:
    html = "<table><caption>cap</caption><tr><td>aaa<td>bb<tr><td>x<td>y</table>"
    assert composed(html) == ["cap", "aaa\tbb\nx\ty"]
    assert composed(html, dropped=["bb", "x", "y"]) == ["cap", "aaa\tbb\nx\ty"]
    assert composed(html, dropped=["aaa", "cap"]) == []


def test_a_table_in_preformatted_text_is_text() -> None:
    assert composed("<pre><table><tr><td>a<td>b<tr><td>c<td>d</table></pre>") == ["a", "b", "c", "d"]


def test_markdown() -> None:
    html = (
        "<h3>head<br>line</h3><ol><li>a<ul><li>b</ul><li>c<p>more</p></ol><dl><dt>t<dd>d</dl><blockquote>q</blockquote>"
        "<pre>x = 1</pre><table><tr><td>1<td>2<tr><td>3<td>4</table>"
    )
    assert composed(html, markup=Markdown()) == [
        "### head line", "1. a\n  - b\n2. c\n  more", "- t\n  - d", "> q", "```\nx = 1\n```",
        "| 1 | 2 |\n| --- | --- |\n| 3 | 4 |",
    ]  # fmt: skip


def test_items_that_are_left_out_are_not_counted() -> None:
    assert composed("<ol><li>a<li>b<li>c</ol>", dropped=["b"], markup=Markdown()) == ["1. a\n2. c"]
