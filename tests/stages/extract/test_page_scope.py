import pytest

from obelics_pipeline.stages.extract.page_scope import page_scope
from tests.stages.extract.trees import tree_of


def kept(html: str) -> str:
    tree = tree_of(html)
    flags = page_scope(tree)
    assert flags.shape == (len(tree.rows),)
    return " ".join(value for value, flag in zip(tree.values, flags, strict=True) if flag and isinstance(value, str))


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>a</p><aside>b<p>c</p></aside><footer>d</footer><p>e", "a e"),
        ("<article>a<aside>b</aside><footer>c</footer></article>", "a"),
        ("<blockquote>a<footer>b</footer></blockquote><footer>c</footer>", "a b"),
        ("<figure>a<aside>b</aside></figure>", "a b"),
        ("<header>a<h1>b</h1>c<h1>d</h1></header>e", "b e"),
        ("<header><div>a<div><h1>b</h1></div></div></header>e", "b e"),
        ("<main><header>a</header>b</main><header>c</header>", "a b"),
        ("<article><article>a</article><header>b</header></article>", "a b"),
        ("<aside><article>a<header>b</header></article></aside>c", "c"),
        ("<aside><header><h1>a</h1></header></aside>c", "c"),
        ("<header><aside>a<h1>b</h1></aside></header>c", "b c"),
        ("<div role=complementary>a</div><div role=banner>b</div>c", "c"),
        ("", ""),
    ],
)
def test_the_frame_of_a_page_goes(html: str, expected: str) -> None:
    assert kept(html) == expected
