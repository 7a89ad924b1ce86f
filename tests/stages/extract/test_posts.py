"""In a thread one can tell which text and which picture is of which post."""

import pytest

from obelics_pipeline.core.config.extraction import ExtractionConfig
from obelics_pipeline.core.document import Node, TextNode, interleave
from obelics_pipeline.stages.extract.page import extract_page
from obelics_pipeline.stages.extract.posts import number_posts
from obelics_pipeline.stages.extract.tags import TEXT
from obelics_pipeline.stages.extract.tree import TAG
from tests.stages.extract.trees import tree_of
from tests.stages.extract.written_pages import article, forum, page, paragraph

URL = "https://www.example.com/threads/rope.12/"


def nodes(body: str, url: str = URL, markup: str = "plain") -> list[Node]:
    return extract_page(page(body), url, ExtractionConfig.model_validate({"markup": markup})).nodes


def numbers(found: list[Node]) -> list[tuple[int, str]]:
    return [(n.post, n.text) for n in found if isinstance(n, TextNode) and n.post is not None]


def test_posts_are_numbered_in_the_order_of_the_page() -> None:
    found = numbers(nodes(forum(8)))
    assert {(post, text[:8]) for post, text in found if text.startswith("Answer")} == {
        (i, f"Answer {i}") for i in range(8)
    }
    assert [post for post, _ in found] == sorted(post for post, _ in found)


def test_what_is_in_no_post_has_no_number() -> None:
    found = nodes(forum(8))
    assert [n.post for n in found if isinstance(n, TextNode) and n.text.startswith("Which rope")] == [None]


def numbered(html: str) -> list[tuple[int, str]]:
    """The number and the text of each row, all of which is main content."""
    tree = tree_of(html)
    found = number_posts(tree, tree.rows[:, TAG] == TEXT).tolist()
    return [(number, text) for number, text in zip(found, tree.values, strict=True) if isinstance(text, str)]


POSTS = "<div class=author>One, which is longer.</div><div class=author>Two <p>and more.</p></div>"


def test_rows_before_between_and_behind_posts_are_in_none() -> None:
    html = f"<p>Before.</p>{POSTS}<p>Between.</p><div class=author>Three.</div><p>Behind.</p>"
    expected = [
        (-1, "Before."),
        (0, "One, which is longer."),
        (1, "Two"),
        (1, "and more."),
        (-1, "Between."),
        (2, "Three."),
    ]
    assert numbered(html) == [*expected, (-1, "Behind.")]


def test_where_most_text_is_in_none_there_are_no_posts() -> None:
    assert {number for number, _ in numbered(f"<p>{paragraph(0)}</p>{POSTS}")} == {-1}


def test_a_picture_has_the_number_of_its_post() -> None:
    picture = "<img src=/rope.jpg width=640 height=480>"
    found = nodes(forum(8).replace("<p>Answer 3.", f"{picture}<p>Answer 3."))
    assert [n.post for n in found if not isinstance(n, TextNode)] == [3]
    assert [about["post"] for about in interleave(found, URL).metadata if about is not None] == [3]


@pytest.mark.parametrize("markup", ["plain", "markdown"])
def test_posts_that_are_laid_out_as_a_list_are_none(markup: str) -> None:
    items = "".join(
        f"<li><b class=author>Ann</b><p>Post {i} is here.</p><p>{paragraph(i)[:90]}</p></li>" for i in range(6)
    )
    thread = nodes(f"<h1>Which rope?</h1><ol class=thread>{items}</ol>", markup=markup)
    found = numbers(thread)
    assert {node.role for node in thread if node.post is not None} == {"paragraph"}
    said = {post: text for post, text in found if "is here" in text}
    assert sorted(said) == list(range(6))
    assert all(f"Post {post} is here" in text and text.count("is here") == 1 for post, text in said.items())


@pytest.mark.parametrize(
    ("body", "url"),
    [(forum(8), "https://www.example.com/rope"), (article(), URL), ("<p>Alone.</p>", URL)],
    ids=["no thread by its address", "an article", "one text"],
)
def test_other_pages_have_no_posts(body: str, url: str) -> None:
    assert {n.post for n in nodes(body, url)} == {None}


@pytest.mark.parametrize(
    "html",
    ["<div class=author><p>x</p>" * 4_000, "<div class=author><p>x</p></div>" * 40_000],
    ids=["nested", "siblings"],
)
def test_a_hostile_page_costs_a_few_passes_over_its_rows(html: str) -> None:
    tree = tree_of(html)
    for _ in range(20):
        found = number_posts(tree, tree.rows[:, TAG] == TEXT)
    assert found.max() in (-1, 39_999)
