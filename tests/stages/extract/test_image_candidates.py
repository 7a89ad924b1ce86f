"""What else is found is held by test_default_rules.py, page by page."""

import numpy as np
import pytest

from obelics_pipeline.stages.extract import image_candidates as module
from obelics_pipeline.stages.extract.image_candidates import Candidate, image_candidates, picture_name
from obelics_pipeline.stages.extract.tags import tag_id
from obelics_pipeline.stages.extract.tree import TAG
from tests.stages.extract.trees import row_of, tree_of

URL = "https://www.example.com/blog/post.html"


def found(html: str, base: str | None = None) -> list[Candidate]:
    tree = tree_of(html)
    return image_candidates(tree, URL, base, np.ones(len(tree.rows), np.bool_))


def test_a_picture_knows_its_sizes_its_link_and_its_place() -> None:
    html = "<div><a href=/big><img src=s.jpg alt=' a  b ' width=300px height=50%></a>"
    (picture,) = found(html)
    tree = tree_of(html)
    assert picture.image.src == "https://www.example.com/blog/s.jpg"
    assert (picture.image.alt_text, picture.image.rendered_width, picture.image.rendered_height) == ("a b", 300, "50%")
    assert picture.href == "/big"
    assert tree.rows[picture.parent, TAG] == tag_id("div")
    assert (picture.image.role, picture.image.position) == (None, None)


@pytest.mark.parametrize(
    ("declared", "sides"),
    [
        ("style='width:24px; height: 20.5PX'", (24, 20)), ("style='max-width:24px;line-height:9px'", ()),
        ("width=640 style=width:24px;height:20px", (640, 20)), ("style=width:24%;height:2em", ()),
        ("width=50% style=width:24px", ()), ("style='width:0px; height:0px; min-width:100%'", ()),
        ("style='width:999999px'", ()),
    ],
)  # fmt: skip
def test_a_style_sets_the_sides_that_attributes_leave_open(declared: str, sides: tuple[int, ...]) -> None:
    (picture,) = found(f"<img src=/x.jpg {declared}>")
    assert picture.sides == sides


def test_a_style_sets_no_rendered_size() -> None:
    (picture,) = found("<img src=/x.jpg style='width:240px; height:200px'>")
    assert (picture.image.rendered_width, picture.image.rendered_height) == (None, None)


def test_only_wanted_rows_are_looked_at() -> None:
    tree = tree_of("<img src=/a.jpg><p>x</p><img src=/b.jpg>")
    wanted = np.zeros(len(tree.rows), np.bool_)
    wanted[row_of(tree, "/b.jpg")] = True
    assert [c.image.unformatted_src for c in image_candidates(tree, URL, None, wanted)] == ["/b.jpg"]


@pytest.mark.parametrize(
    "html",
    ["<img>", "<img src=''>", "<img src=about:blank>", "<img src=javascript:x>", "<img src='data:image/gif;base64,R0'>",
     "<img src=/x.gif width=1>", "<img src=/x.gif height=2>", "<img src=/x.gif width=0 height=0>",
     "<img src=/x.gif style=width:1px;height:1px>",
     "<noscript><img src='/p?c1=2'></noscript>", "<x-card>text</x-card>", "<img src='http://[bad/x.jpg'>"],
)  # fmt: skip
def test_what_is_no_picture(html: str) -> None:
    assert found(f"<p>text</p>{html}") == []


def test_a_base_counts_where_it_is_one() -> None:
    assert found("<img src=x.jpg>", "//img.example.net/y/")[0].image.src == "https://img.example.net/y/x.jpg"
    assert found("<img src=x.jpg>", "http://[bad")[0].image.src == "https://www.example.com/blog/x.jpg"


def test_twins_are_one_and_text_between_makes_them_two() -> None:
    lazy, real = "<img data-src=/a-300x200.jpg alt=said>", "<noscript><img src=/a.jpg></noscript>"
    (picture,) = found(f"<p>text</p>{lazy}{real}")
    assert (picture.image.unformatted_src, picture.image.alt_text, picture.in_noscript) == ("/a.jpg", "said", True)
    assert len(found(f"{lazy}<p>text</p>{real}")) == 2


def test_a_picture_twice_in_a_row_is_one() -> None:
    assert len(found("<img src=/a.jpg width=1200><img src=/a.jpg width=300>")) == 1
    assert len(found("<img src=/a.jpg><p>text</p><img src=/a.jpg>")) == 2


def test_a_link_around_a_picture_element_counts() -> None:
    (picture,) = found("<a href=/big><picture><source srcset=/b.jpg><img src=/s.jpg></picture></a>")
    assert picture.href == "/big"


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://e.org/a/pier-300x200.jpg?w=3", "pier"), ("https://e.org/pier-scaled.jpg", "pier"),
        ("https://e.org/pier@2x.png", "pier"), ("https://e.org/pier.jpg", "pier"), ("https://e.org/pier-640w", "pier"),
        ("https://e.org/", "https://e.org/"), ("https://e.org/pier-7.jpg", "pier-7"),
    ],
)  # fmt: skip
def test_variants_of_a_picture_have_one_name(url: str, name: str) -> None:
    assert picture_name(url) == name


def test_noscripts_in_noscripts_are_each_passed_once() -> None:
    deep = 1_000
    passed = module._skipped(range(1, deep + 1), [module._NOSCRIPT] * deep, range(deep))
    assert passed[deep] == (0, True)


def test_pictures_that_a_script_names_by_its_query_are_told_apart() -> None:
    assert len(found("<img src='/image.php?id=1'><img src='/image.php?id=2'>")) == 2
    assert len(found("<img src='/a.jpg?width=1'><img src='/a.jpg?width=2'>")) == 1
