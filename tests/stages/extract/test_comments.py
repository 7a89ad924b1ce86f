"""Comments below an article are told from its text, and posts of a thread are not taken for them."""

import pytest

from obelics_pipeline.core.config.extraction import ExtractionConfig
from obelics_pipeline.core.document import Node, TextNode
from obelics_pipeline.stages.extract.comments import find_comments, find_reviews, is_thread, written
from obelics_pipeline.stages.extract.page import extract_page
from obelics_pipeline.stages.extract.tags import TEXT
from obelics_pipeline.stages.extract.tree import TAG
from tests.stages.extract.trees import row_of, tree_of
from tests.stages.extract.written_pages import SENTENCES, article, links, page, paragraph

URL = "https://www.example.com/2020/harbour.html"


def comment(number: int, picture: str = "") -> str:
    return (
        f"<li class='comment depth-1'><div class='comment-author vcard'><img class=avatar src=/face{number}.png>"
        f"<b>Ann Example {number}</b></div><div class=comment-meta><a href=#c>3 May 2020 at 10:0{number}</a></div>"
        f"<div class=comment-content>{picture}<p>Reader {number} says this. {SENTENCES[number % 5]}</p></div>"
        f"<a class=comment-reply-link href=#r>Reply</a></li>"
    )


def comments(number: int = 4, picture: str = "") -> str:
    return (
        f"<div id=comments><h2>{number} thoughts on the harbour</h2><ol class=commentlist>"
        + "".join(comment(i, picture) for i in range(number))
        + "</ol><div id=respond><h3>Leave a reply</h3><form class=comment-form><p>Your address will not be shown to "
        "anybody who reads this.</p><label>Comment</label></form></div></div>"
    )


def nodes(html: str, setting: str, url: str = URL) -> list[Node]:
    return extract_page(page(html), url, ExtractionConfig.model_validate({"comments": setting})).nodes


def said(found: list[Node], role: str | None = None) -> str:
    return "\n".join(n.text for n in found if isinstance(n, TextNode) and role in (None, n.role))


BELOW = article() + comments()


def test_comments_are_dropped_without_a_choice() -> None:
    found = extract_page(page(BELOW), URL, ExtractionConfig()).nodes
    assert "Part 7." in said(found)
    assert not any(words in said(found) for words in ("says this", "thoughts on", "Ann Example", "will not be shown"))


def test_marked_comments_follow_the_text_in_their_order_and_hold_what_readers_wrote() -> None:
    found = nodes(BELOW, "mark")
    expected = [f"Reader {i} says this. {SENTENCES[i % 5]}" for i in range(4)]
    assert [n.text for n in found[-4:] if isinstance(n, TextNode)] == expected
    assert [n.role for n in found].count("comment") == 4
    assert {n.role for n in found[-4:]} == {"comment"}


def test_a_form_around_the_whole_page_says_nothing_of_its_comments() -> None:
    below = BELOW.partition("<div id=respond>")[0] + "</div>"  # a form has no other in it
    assert nodes(f"<form id=aspnetForm>{below}</form>", "mark") == nodes(below, "mark") == nodes(BELOW, "mark")


@pytest.mark.parametrize("setting", ["drop", "mark"])
def test_the_text_above_comments_is_the_same_as_without_them(setting: str) -> None:
    alone, found = nodes(article(), setting), nodes(BELOW, setting)
    assert found[: len(alone)] == alone


def test_kept_comments_are_judged_as_any_text() -> None:
    tail = "".join(f"<div class=comment-content><p>{paragraph(20 + i)}</p></div>" for i in range(8))
    html = article(after=f"<div class=comment-list><b class=comment-author>Ann</b>{tail}</div>")
    assert "Part 27." in said(nodes(html, "keep"))
    assert "Part 27." not in said(nodes(html, "drop"))
    assert "comment" not in {node.role for node in nodes(html, "keep")}


def test_the_picture_that_stands_for_the_page_is_not_taken_from_its_comments() -> None:
    html = article(after=comments(1, picture="<img src=/boat.jpg width=640 height=480>"))
    head = "<meta property=og:image content=/boat.jpg>"
    found = extract_page(page(html, head), URL, ExtractionConfig()).nodes
    assert all(isinstance(node, TextNode) for node in found)


def test_pictures_in_comments_follow_the_setting_and_faces_are_none() -> None:
    html = article() + comments(2, picture="<img src=/boat.jpg width=640 height=480>")
    images = {
        setting: [(n.role, n.src) for n in nodes(html, setting) if not isinstance(n, TextNode)]
        for setting in ("drop", "mark")
    }
    assert images == {"drop": [], "mark": [("comment", "https://www.example.com/boat.jpg")]}


def test_a_list_without_a_name_is_found_by_its_buttons_to_reply() -> None:
    items = "".join(
        f"<li><h4 class=author>Ann {i}</h4><div><p>Reader {i} says this. {paragraph(i)}</p></div>"
        f"<a class=reply href=#r{i}>antworten</a></li>"
        for i in range(5)
    )
    found = nodes(article(after=f"<ul>{items}</ul>"), "mark")
    assert said(found, "comment").count("says this") == 5
    assert "says this" not in said(nodes(article(after=f"<ul>{items}</ul>"), "drop"))


@pytest.mark.parametrize(
    "beside",
    [
        "<span>Mark this as helpful</span>",
        "<p>On the 3rd of 05/2020, 10:04:55</p>",
        "<h4>A heading, which is long enough for a sentence.</h4>",
        "<p><a href=/x>A link, which is long enough for a sentence.</a></p>",
        "<form><p>A note in a form, which is long enough for a sentence.</p></form>",
        "<div class=comment-author>Ann Example, who says that she has been here.</div>",
        "<div class=latest-comments><p>Another story has a comment, which begins like this.</p></div>",
    ],
)
def test_what_stands_beside_a_comment_is_none(beside: str) -> None:
    html = article() + comments().replace("</li>", f"<div>{beside}</div></li>")
    assert [n for n in nodes(html, "mark") if n.role == "comment"] == nodes(BELOW, "mark")[-4:]


@pytest.mark.parametrize(
    "html",
    [
        f"{article()}<div class=comment-note><p>{paragraph(9)}</p></div>",  # nobody is named
        f"{article()}<div class=comments><form><b class=author>Your name</b></form><p>{paragraph(9)}</p></div>",
        f"{article()}<div id=reviews class=product-reviews>{comments()}</div>",  # of what a shop sells
        f"{article()}<div class=comments><h1>Comments</h1><b class=author>Ann</b><p>{paragraph(9)}</p></div>",
        f"<div class='hentry comments-open'>{article()}<p class=byline>By Ann</p></div>",
        article(f"<div class=comment-box><b class=author>Ann</b><p>{paragraph(9)}</p></div>"),
        "<h1>Which rope?</h1><p>Short question.</p>" + comments(9),
    ],
    ids=["no author", "a form", "reviews", "an h1", "around the article", "in its middle", "the whole page"],
)
def test_what_is_named_like_comments_and_is_none_stays_as_it_was(html: str) -> None:
    assert nodes(html, "mark") == nodes(html, "drop") == nodes(html, "keep") != []


REVIEWS = "".join(f"<div class=review><b class=author>Ann</b><p>{paragraph(i)}</p></div>" for i in range(4, 7))
OFFER = (
    '<meta property=og:type content=product><script type="application/ld+json">'
    '{"@type": "Product", "offers": {"@type": "Offer", "price": "19.90"}}</script>'
)
PRODUCT = (
    links("menu") + "<div class=product><h1>Brass lantern</h1><span class=price>$19.90</span>"
    f"<p>{paragraph(1)}</p><p>{paragraph(2)}</p><ul><li>12 cm<li>340 g<li>$4.50 to send</ul><button>+</button></div>"
)


def of_product(html: str, setting: str) -> list[Node]:
    config = ExtractionConfig.model_validate({"comments": setting})
    found = extract_page(page(html, OFFER), "https://shop.example.com/p/8812", config)
    assert found.page_type is not None and found.page_type.kind == "product"
    return found.nodes


@pytest.mark.parametrize("name", ["reviews", "product-reviews", "kundenmeinungen", "yotpo"])
def test_reviews_of_a_product_are_comments(name: str) -> None:
    html = f"{PRODUCT}<div class={name}>{REVIEWS}</div>"
    dropped, marked = of_product(html, "drop"), of_product(html, "mark")
    assert "Part 5." in said(of_product(html, "keep"))
    assert "Part 2." in said(dropped) and "Part 5." not in said(dropped)
    assert "Part 5." in said(marked, "comment") and "Part 2." not in said(marked, "comment")


def test_reviews_are_the_main_text_where_hardly_any_stands_outside_of_them() -> None:
    tree = tree_of(page(f"<div class=product-review><h1>Brass lantern</h1><p>{paragraph(1)}</p></div>"))
    texts = tree.rows[:, TAG] == TEXT
    assert not find_reviews(tree, texts).any()
    beside = tree_of(page(f"<div class=reviews><p>{paragraph(1)}</p></div><p>{paragraph(2)}{paragraph(3)}</p>"))
    found = find_reviews(beside, beside.rows[:, TAG] == TEXT)
    assert found[row_of(beside, "Part 1.")] and not found[row_of(beside, "Part 2.")]


def test_a_review_of_an_article_is_its_text() -> None:
    html = f"{article()}<div class=review><p>{paragraph(9)}</p></div>"
    assert nodes(html, "drop") == nodes(html, "keep")


THREAD = (
    "<div class=thread><h1>Which rope?</h1><div class=first-message>"
    + "".join(f"<p>{paragraph(i)}</p>" for i in range(3))
    + "</div>"
    + "".join(f"<div class='message comment'><b class=author>Ann</b><p>{paragraph(i)}</p></div>" for i in range(3, 8))
    + "</div>"
)


@pytest.mark.parametrize(
    ("url", "head"),
    [
        ("https://forum.example.com/a", ""),
        ("https://www.example.com/threads/rope.12/", ""),
        ("https://www.example.com/viewtopic.php?t=3", ""),
        ("https://www.example.com/r/rope/comments/1a2b/which_rope/", ""),
        ("https://www.example.com/post/21018364", ""),
        (URL, '<script type="application/ld+json">{"@type": "DiscussionForumPosting"}</script>'),
        (URL, '<script type="application/ld+json">{"@type": "QAPage"}</script>'),
    ],
)
def test_posts_of_a_thread_are_no_comments(url: str, head: str) -> None:
    found = extract_page(page(THREAD, head), url, ExtractionConfig()).nodes
    assert all(f"Part {i}." in said(found) for i in range(8))
    assert "Part 7." not in said(
        extract_page(page(THREAD), URL, ExtractionConfig()).nodes
    )  # an article, for all it says


@pytest.mark.parametrize(
    "url",
    [URL, "https://www.example.com/t-shirt", "https://a.example/topic/rope", "https://www.example.com/information/"],
)
def test_other_addresses_are_no_threads(url: str) -> None:
    assert not is_thread(b"<p>forums, threads", url)


HOSTILE = {
    "nested": "<div class='comment author'>" * 4_000 + f"<p>{SENTENCES[0]}</p>",
    "siblings": "<p class='comment author'><a class=reply>Reply</a>" * 50_000,
    "nested buttons": "<div class=author><a class=reply>Reply</a>" * 4_000,
}


@pytest.mark.parametrize("tail", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_page_costs_a_few_passes_over_its_rows(tail: str) -> None:
    """A walk upwards or downwards from each of the elements would take minutes."""
    tree = tree_of(page(article() + tail))
    kept = tree.rows[:, TAG] == TEXT
    kept[row_of(tree, "Part 7") + 1 :] = False
    for _ in range(20):
        comments = find_comments(tree, kept)
        theirs = written(tree, comments)
    assert comments.any()
    assert not (comments & kept).any()
    assert not (theirs & ~comments).any()
