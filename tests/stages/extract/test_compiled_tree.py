"""What is counted in the rows of a tree is the same compiled and in Python."""

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from obelics_pipeline.models.forest import SCALE
from obelics_pipeline.stages.extract import main_content, main_images, page_numbers, tree
from obelics_pipeline.stages.extract.image_candidates import image_candidates
from obelics_pipeline.stages.extract.links import LinkCounts, count_in_python, count_links
from obelics_pipeline.stages.extract.tags import flags
from obelics_pipeline.stages.extract.tree import CHARS, END, MARKS, PARENT, TAG, WIDTH, SimplifiedTree, sums_before
from tests.stages.extract.test_simplify import soup
from tests.stages.extract.trees import tree_of

pytestmark = pytest.mark.skipif(not tree.COMPILED, reason="the compiled part was not built")

SIGNS = "$€£?({=:/"
URL = "https://www.harbour.example/news/pier.html"
HREFS = (
    "", "#a", "javascript:x", "JAVASCRIPT:x", "MailTo:a", "tel:1", "data:,", "data", "/a", "/go/x", "/go/",
    "/goto/x?a=b",
    "/recommends/x", "/recommendsx/y", "/Go/x", "//other.example", "\\\\other.example\\go/x", "http:/go/x", "https:a",
    "HTTPS://www.harbour.example/visit/x", "https://harbour.example/out/a", "https://ä.example/?tag=x",
    "http://[::1/?ref=a",
    "https://shop.example/a?Tag=b", "https://shop.example/a?tag=&b=c", "https://shop.example/?x=1#go/a",
    "é/go/x", "ſ//go/x",
)  # fmt: skip
RELS = (None, "", "sponsored", "nofollow SPONSORED", "unsponsored", "İsponsored x")


@given(soup, st.integers(0, 2**20 - 1))
@example("", 0)
@example("<aside><p>a<aside>b</aside></aside><footer>c", 0b1011)
def test_subtrees_are_marked_alike(html: str, bits: int) -> None:
    page = tree_of(html)
    roots = np.array([bits >> (row % 20) & 1 for row in range(len(page.rows))], np.bool_)
    assert page.inside(roots).tolist() == tree.inside(page.rows, roots).tolist()
    table = flags("aside", "p", "figure")
    assert page.inside_tags(table).tolist() == tree.inside(page.rows, table[page.rows[:, TAG]]).tolist()


def test_marked_rows_may_be_changed() -> None:
    page = tree_of("<p>a<p>b")
    marked = page.inside_tags(flags("p"))
    marked[:] = False
    assert not marked.any()


@given(soup)
def test_sums_are_the_same(html: str) -> None:
    page = tree_of(html)
    for values in (page.rows[:, CHARS], page.rows[:, TAG] > 20, page.rows[:, MARKS].astype(np.int64)[::-1]):
        assert sums_before(values).tolist() == tree.sums_in_numpy(values).tolist()


def test_sums_of_other_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="whole numbers"):
        sums_before(np.array([0.5]))


@given(soup)
@example("text without an element around it")
def test_rows_are_counted_alike(html: str) -> None:
    page = tree_of(html)
    assert page_numbers.count_rows(page) == page_numbers.count_in_numpy(page)


def test_a_text_at_the_top_is_counted_as_before() -> None:
    page = tree_of("<div><p>a</p></div>")
    rows = page.rows.copy()
    rows[:, PARENT] = -1
    page = SimplifiedTree(rows, page.values, {}, [])
    assert page_numbers.count_rows(page) == page_numbers.count_in_numpy(page)


def test_rows_of_another_width_are_refused() -> None:
    page = SimplifiedTree(np.zeros((2, WIDTH - 1), np.int32), [], {}, [])
    with pytest.raises(ValueError, match="rows of int32"):
        page.inside_tags(flags("p"))


@given(st.lists(st.one_of(st.none(), st.text(alphabet=SIGNS + "a\u20ad\u0124日\U00020000")), max_size=4))
def test_signs_are_counted_alike(values: list[str | None]) -> None:
    text = "\n".join(value for value in values if value is not None)
    assert page_numbers.count_characters(values, SIGNS) == [text.count(sign) for sign in SIGNS]


@given(st.lists(st.tuples(st.sampled_from(HREFS), st.sampled_from(RELS)), max_size=8))
@example([(href, None) for href in HREFS])
@example([(href, "sponsored") for href in HREFS])
def test_links_are_counted_alike(links: list[tuple[str, str | None]]) -> None:
    assert count_links(links, URL) == count_in_python(links, URL)


def test_each_address_is_counted_alike() -> None:
    for href in HREFS:
        for rel in RELS:
            assert count_links([(href, rel)], URL) == count_in_python([(href, rel)], URL), (href, rel)
    assert count_links([], URL) == LinkCounts()


@given(st.lists(st.text(alphabet="/-#?=\na\u20ad\U00020000", min_size=1), max_size=4))
def test_signs_of_addresses_are_counted_alike(addresses: list[str]) -> None:
    assert page_numbers.count_addresses(addresses) == page_numbers.count_addresses_in_python(addresses)


odds = st.one_of(st.integers(-12 * SCALE, 12 * SCALE), st.sampled_from([0, SCALE, -SCALE]))


@given(st.lists(st.tuples(odds, st.integers(0, 10_000)), min_size=1, max_size=30))
@example([(0, 10), (0, 10), (SCALE, 10), (-SCALE, 500)])
def test_the_same_texts_are_kept(texts: list[tuple[int, int]]) -> None:
    log_odds = np.array([value for value, _ in texts], np.int64)
    characters = np.array([count for _, count in texts], np.int32)
    content, confidence = main_content.decide(log_odds, characters)
    expected, sure = main_content.decide_in_numpy(log_odds, characters)
    assert (content.tolist(), confidence) == (expected.tolist(), sure)


@given(st.integers(1, 40), st.integers(1, 3), st.integers(0, 2**32 - 1))
@example(1, 1, 0)
def test_means_are_the_same(texts: int, step: int, seed: int) -> None:
    features = np.random.default_rng(seed).uniform(0, 300, (texts, len(page_numbers.TEXT_NAMES))).astype(np.float32)
    features[:, 1] = np.round(features[:, 1] * 2) / 2048  # halves of a part, which are rounded to even
    width = features.shape[1]
    found = tree.compiled.means(features, width, step, page_numbers._PARTS)
    assert np.frombuffer(found, np.float32).tolist() == page_numbers.means_in_numpy(features, step).tolist()


pictures = st.lists(st.sampled_from(["<img src=/a.jpg>", "<figure><img src=b></figure>", "<a href=/x><img src=c>"]))
around = st.sampled_from(["div", "header", "figure", "article", "h1", "p class=related", "span class='hidden tags'"])


@given(soup, pictures, around, st.integers(0, 2**20 - 1))
@example("<p>a", ["<img src=/a.jpg>"], "header", 0)
@example("a" * 900, ["<img src=/a.jpg>"], "div", 1)
def test_pictures_stand_alike(html: str, images: list[str], element: str, bits: int) -> None:
    page = tree_of(f"<{element}>{html}{''.join(images)}</{element}><h1>b</h1>{html}<img src=/d.jpg>{html}")
    found = image_candidates(page, URL, None, np.ones(len(page.rows), np.bool_))
    assume(found)
    kept = np.array([bits >> (row % 20) & 1 for row in range(len(page.rows))], np.bool_)
    assert main_images.places_of(page, kept, found) == main_images.places_in_python(page, kept, found)


@pytest.mark.parametrize(("column", "value"), [(PARENT, 2), (PARENT, -2), (END, 0), (END, 9)])
def test_rows_out_of_order_are_refused(column: int, value: int) -> None:
    page = tree_of("<p>a<p>b")
    rows = page.rows.copy()
    rows[1, column] = value
    kept = np.ones(len(rows), np.bool_)
    with pytest.raises(ValueError, match="row 1: an element"):
        tree.compiled.places(rows, kept, [(0, -1)], b"", 0, 3, 0, 0)
    with pytest.raises(ValueError, match="a picture in no row"):
        tree.compiled.places(page.rows, kept, [(len(rows), -1)], b"", 0, 3, 0, 0)
