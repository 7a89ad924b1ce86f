import numpy as np
import pytest

from obelics_pipeline.stages.extract import main_images as module
from obelics_pipeline.stages.extract.image_candidates import Candidate, image_candidates
from obelics_pipeline.stages.extract.main_content import find_main_content
from obelics_pipeline.stages.extract.main_images import is_icon, main_images, page_images, picture_rows
from tests.stages.extract.trees import row_of, tree_of
from tests.stages.extract.written_pages import article, forum, links, page

URL = "https://www.example.com/blog/post.html"


def shown(html: str, lead: str = "") -> list[str]:
    """The pictures of the main content."""
    tree = tree_of(page(html))
    kept = find_main_content(tree).kept
    candidates = image_candidates(tree, URL, None, picture_rows(tree, kept))
    return [c.image.unformatted_src for c in main_images(tree, kept, (), candidates, frozenset([lead]))]


def shown_with_headline(html: str) -> list[str]:
    """The same of a page whose first h1 is its headline."""
    tree = tree_of(page(html))
    kept = find_main_content(tree).kept
    headline = [row_of(tree, "A harbour")]
    opened = kept.copy()
    opened[headline] = True
    candidates = image_candidates(tree, URL, None, picture_rows(tree, opened))
    return [c.image.unformatted_src for c in main_images(tree, kept, headline, candidates, frozenset())]


@pytest.mark.parametrize(
    "picture",
    [
        "<p><img src=/x.jpg></p>", "<img src=/x.jpg width=640 height=480>", "<a href=/x-large.jpg><img src=/x.jpg></a>",
        "<figure><img src=/x.jpg><figcaption>The pier</figcaption></figure>", "<div class=photo><img src=/x.jpg></div>",
        "<p><a href=/another-page><img src=/x.jpg></a></p>", "<div class=overflow-hidden><img src=/x.jpg></div>",
        "<figure><a href=/another-page><img src=/x.jpg></a><figcaption>The pier</figcaption></figure>",
    ],
)  # fmt: skip
def test_pictures_among_the_content_stay(picture: str) -> None:
    assert shown(article(picture)) == ["/x.jpg"]


@pytest.mark.parametrize(
    "picture",
    [
        "<p><img src=/x.jpg width=20 height=20></p>", "<p><img class=avatar src=/x.jpg></p>",
        "<p><img class=wp-smiley src=/x.jpg></p>", "<div class=author-avatar><img src=/x.jpg></div>",
        "<a href=/u/1><img src=/avatars/x.jpg width=96 height=96></a>", "<img src=/x.gif width=1 height=1>",
        "<div class=hidden><img src=/x.jpg></div>", "<img class='photo hidden-xs' src=/x.jpg>",
        "<div class=related-story><a href=/another-page><img src=/x.jpg></a></div>",
        "<div class=card><a href=/another-page><img src=/x.jpg></a><a href=/another-page>Read on</a></div>",
    ],
)  # fmt: skip
def test_signs_faces_hidden_pictures_and_those_of_other_pages_go(picture: str) -> None:
    assert shown(article(picture)) == []


@pytest.mark.parametrize("address", ["/", "https://www.example.com", "http://example.com/#top", "//www.example.com/"])
def test_a_picture_above_the_content_that_links_to_the_front_page_is_the_logo(address: str) -> None:
    logo = f"<div><a href={address}><img src=/x.jpg></a></div>"
    assert shown(f"<main>{logo}{article()}</main>", lead="x") == []
    assert shown(f"<main>{logo.replace(f'href={address}', 'href=/y')}{article()}</main>", lead="x") == ["/x.jpg"]
    assert shown(article(f"<p>{logo}</p>")) == ["/x.jpg"]  # among the texts it is one of the content


@pytest.mark.parametrize(
    "picture",
    [
        "<p><img src=/x.jpg width=75 height=75></p>", "<p><img src=/x.svg width=140 height=36></p>",
        "<div class=byline><div><img src=/x.jpg width=128></div></div>", "<div class=popup><img src=/x.jpg></div>",
        "<div class=share><a href=https://social.example/><img src=/x.jpg></a></div>",
        "<p>Good<img src=/x.png></p>" * 3, "<p><img src=/x.jpg style='width:24px; height:24px'></p>",
    ],
)  # fmt: skip
def test_signs_beside_texts_go_by_size_place_and_number(picture: str) -> None:
    assert shown(article(picture)) == []


def test_what_stands_in_figures_or_galleries_may_be_small_or_there_again() -> None:
    assert shown(article("<figure><img src=/x.jpg width=75 height=75></figure>")) == ["/x.jpg"]
    assert shown(article("<p>one<figure><img src=/x.jpg></figure>" * 3)) == ["/x.jpg"]
    assert shown(article("<div class=gallery><p>one</p><img src=/x.jpg></div>" * 3)) == ["/x.jpg"]


def test_a_picture_that_is_there_again_in_a_smaller_size_goes() -> None:
    def pair(first: str, second: str) -> str:
        return article(f"<p><img src=/{first}></p><p>Between them stands a text.</p><p><img src=/{second}></p>")

    assert shown(pair("pier.jpg", "pier-300x200.jpg")) == ["/pier.jpg"]
    assert shown(pair("pier-800x600.jpg", "pier-300x200.jpg")) == ["/pier-800x600.jpg"]
    assert shown(pair("pier-300x200.jpg", "pier.jpg")) == ["/pier-300x200.jpg", "/pier.jpg"]
    assert shown(pair("pier.jpg", "quay-300x200.jpg")) == ["/pier.jpg", "/quay-300x200.jpg"]
    assert shown(pair("a/pier.jpg", "b/pier-300x200.jpg")) == ["/a/pier.jpg", "/b/pier-300x200.jpg"]
    figure = "<figure><img src=/pier-300x200.jpg><figcaption>The pier from the land</figcaption></figure>"
    assert shown(article(f"<p><img src=/pier.jpg></p><p>Between them.</p>{figure}")) == [
        "/pier.jpg",
        "/pier-300x200.jpg",
    ]


def test_a_height_of_nothing_is_no_thin_picture() -> None:
    assert shown(article("<p><img src=/x.jpg width=640 height=0></p>")) == ["/x.jpg"]


def test_a_field_whose_label_is_hidden_shows_its_picture() -> None:
    assert shown(article("<div class='field label-hidden'><img src=/x.jpg></div>")) == ["/x.jpg"]


def test_a_gallery_above_the_headline_is_of_the_content() -> None:
    gallery = "<div><img src=/x.jpg alt='The harbour from above'><img src=/y.jpg width=640></div>"
    title = "<div class=summary><h1>A harbour that moved</h1></div>"
    assert shown_with_headline(gallery + title + article()) == ["/x.jpg", "/y.jpg"]
    tracker = "<img src=/p?c1=2&c2=9>"
    linked = "<a href=/offer><img src=/x.jpg alt='An offer'></a>"
    assert shown_with_headline(f"<header>{gallery}</header>{tracker}{linked}{title}{article()}") == []


@pytest.mark.parametrize("address", ["'#'", "' # '", "javascript:void(0)", "JavaScript:print()"])
def test_a_picture_above_the_content_whose_link_only_runs_a_script_is_a_button(address: str) -> None:
    button = f"<td><a href={address}><img src=/x.jpg alt=Print></a></td>"
    tools = f"<table><tr>{button}</tr></table>"
    assert shown_with_headline(f"<main>{tools}<h1>A harbour that moved</h1>{article()}</main>") == []
    assert shown_with_headline(
        f"<main>{tools.replace(address, '/x-large.jpg')}<h1>A harbour</h1>{article()}</main>"
    ) == ["/x.jpg"]
    assert shown_with_headline(f"<main>{tools.replace(address, '#part')}<h1>A harbour</h1>{article()}</main>") == [
        "/x.jpg"
    ]
    assert shown(f"<main>{tools}{article()}</main>", lead="x") == ["/x.jpg"]
    assert shown(f"<main><figure><a href={address}><img src=/x.jpg></a></figure>{article()}</main>") == ["/x.jpg"]
    assert shown(article(f"<p><a href={address}><img src=/x.jpg></a></p>")) == ["/x.jpg"]  # opens it large


def test_a_picture_right_behind_the_content_is_of_it() -> None:
    post = article().replace("</article>", "<p><img src=/x.jpg></p></article>")
    assert shown(post) == ["/x.jpg"]


def test_of_a_page_that_is_kept_whole_signs_faces_and_pictures_of_menus_go() -> None:
    kept = "<p><img src=/x.jpg></p><figure><img src=/y.jpg width=80></figure><img src=/z.jpg class=byline width=400>"
    gone = (
        "<img class=avatar src=/a.jpg><div class=menu><img src=/b.jpg></div><div class=advert><img src=/c.jpg></div>"
        "<img src=/d.jpg width=48><div class=author><img src=/e.jpg></div>" + "<p>text<img src=/f.jpg></p>" * 3
    )
    tree = tree_of(page(kept + gone))
    found = page_images(tree, image_candidates(tree, URL, None, np.ones(len(tree.rows), np.bool_)))
    assert [c.image.unformatted_src for c in found] == ["/x.jpg", "/y.jpg", "/z.jpg"]


def test_pictures_of_what_else_there_is_to_read_go() -> None:
    assert shown(article()) == []
    assert shown(article(before="<img src=/lead.jpg>")) == ["/lead.jpg"]


def test_faces_of_a_forum_go_and_pictures_in_posts_stay() -> None:
    posts = forum().replace("<p>Answer 3.", "<p><img src=/knot.jpg width=500>Answer 3.")
    assert shown(posts) == ["/knot.jpg"]


def test_pictures_of_the_pages_frame_go() -> None:
    assert shown(article("<aside><img src=/x.jpg></aside>")) == []
    assert shown(f"<img src=/banner.jpg>{links('menu') * 5}" + article()) == []


def test_what_the_head_names_is_the_lead_picture() -> None:
    before = "<div class=related-media><a href=/slides><img src=/harbour.jpg></a></div>"
    assert shown(article(before=before)) == []
    assert shown(article(before=before), lead="harbour") == ["/harbour.jpg"]


@pytest.mark.parametrize(("sizes", "small"), [("", 0), ("width=49", 1), ("width=50", 0), ("width=10 height=90", 0),
                                              ("width=10%", 0), ("width=30 height=30", 1)])  # fmt: skip
def test_an_icon_is_small_on_its_longer_side(sizes: str, small: int) -> None:
    (candidate,) = _candidates(f"<img src=/x.jpg {sizes}>")
    assert is_icon(candidate) == bool(small)


def test_pictures_stand_near_the_content() -> None:
    tree = tree_of("<img src=/far.jpg><p>" + "x" * 900 + "</p><img src=/near.jpg><p>kept</p><img src=/after.jpg>")
    kept = np.zeros(len(tree.rows), np.bool_)
    kept[row_of(tree, "kept")] = True
    near = picture_rows(tree, kept)
    assert [bool(near[row_of(tree, f"/{name}.jpg")]) for name in ("far", "near", "after")] == [False, True, True]


def _candidates(html: str) -> list[Candidate]:
    tree = tree_of(html)
    return image_candidates(tree, URL, None, np.ones(len(tree.rows), np.bool_))


def test_what_is_around_thousands_of_pictures_is_looked_at_once() -> None:
    looked: list[int] = []

    class Parents(list[int]):
        def __getitem__(self, index: int) -> int:  # type: ignore[override]
            looked.append(index)
            return super().__getitem__(index)

    deep = 1_000
    ends, text = [deep + 1] * (deep + 1), [0] + [9] * (deep + 1)
    around = module._Surroundings(Parents(range(-1, deep)), ends, text, 0)
    assert [around.of(deep) for _ in range(100)] == [0] * 100
    assert len(looked) <= deep
