"""The compiled walk and the one in Python make the same tree of any page, and refuse the same pages."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from obelics_pipeline.core.config.extraction import ExtractionConfig
from obelics_pipeline.stages.extract import simplify as module
from obelics_pipeline.stages.extract import simplify_pure
from obelics_pipeline.stages.extract.simplify import simplify
from obelics_pipeline.stages.extract.tree import JOIN, MARKS, SimplifiedTree
from obelics_pipeline.stages.extract.walk import PageRejected

compiled = pytest.mark.skipif(not module.COMPILED, reason="the compiled walk was not built")
CONFIG = ExtractionConfig()

NAMES = (
    "html body main article div p span b i a img picture source noscript table tbody tr td th ul li dl dd pre code br "
    "h1 h2 sub button dialog nav aside footer header figure figcaption script style template svg math mrow amp-img "
    "my-tag select option textarea title meta base blockquote time label frameset iframe plaintext"
).split()
VALUES = (
    "", "x", "post-meta ad", "rounded overflow-hidden ad", "overflowAd hidden",
    "jJpQhK", "PostMeta byline", "äd ad", "a" * 50, "ad " * 400, " Banner ", "presentation",
    "none", "navigation", "true", "/a/b.jpg", "c.png?d", "until-found", "UNTIL-FOUND",
    "display : none", "DISPLAY:NONE", "display:nonedisplay",
    " http://a.example/ ", "\xa0q\x1f", "\u2028", "\ufffd", "İNFO",
)  # fmt: skip
ATTRIBUTES = (
    "class id itemprop itemid data-x hidden style aria-hidden role href rel open src alt onclick CLASS xlink:href"
).split()
TEXTS = (
    "word", "Word", "12", " two words ", "\n", " ", "\xa0", "&shy;", "soft\xadhyphen", "\u200b", "\u200b \u200b",
    "a, b. C3!", "日本語。",
    "สวัสดี", "\U00020000", "é", "end.”)", "\x0b", "\x1c", "&nbsp;x",
    "…", "１２", "line\n\n  in code  \n", "\u0085", "&lt;b&gt;",
)  # fmt: skip

BYTES = (b"<p>", b"<i class='", b"'>", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\x80", b"\xe3\x81\x82")

tag = st.sampled_from(NAMES)
attribute = st.builds(
    lambda name, value: f" {name}" if value is None else f' {name}="{value}"',
    st.sampled_from(ATTRIBUTES),
    st.one_of(st.none(), st.sampled_from(VALUES), st.text(max_size=5)),
)
start = st.builds(lambda name, attributes: f"<{name}{''.join(attributes)}>", tag, st.lists(attribute, max_size=3))
token = st.one_of(
    start, start, tag.map("</{}>".format), st.sampled_from(TEXTS), st.sampled_from(TEXTS), st.text(max_size=4),
    st.just("<!-- c -->"), st.sampled_from([
        "<br>", "<img src=a.jpg>", "<a href=b>", "</a>", "<p>", "<figure itemid=a.jpg>", "</figure>"
    ]),
)  # fmt: skip
soup = st.lists(token, max_size=40).map("".join)


def outcome(walk: object, page: str | bytes, config: ExtractionConfig = CONFIG) -> object:
    parser = LexborHTMLParser(page)
    if parser.root is None:
        return None
    try:
        tree: SimplifiedTree = walk(parser.root, config)  # type: ignore[operator]
    except PageRejected as rejected:
        return rejected.reason
    return tree.rows.tolist(), list(tree.values), tree.hrefs, list(tree.declarations), list(tree.links)


def assert_twins_agree(page: str | bytes, config: ExtractionConfig = CONFIG) -> None:
    assert outcome(simplify, page, config) == outcome(simplify_pure.simplify, page, config)


@compiled
@given(soup)
@example("<p>a<img src=x> <img src=y>\u200b<img src=z>b")
@example("<a href=x>one</a><a>two</a>三<a>四</a>")
@example("<picture><source srcset=a><img src=b></picture><source srcset=c>")
@example("<b>ab</b><i>Cd</i><span></span>E<b>1</b><i>2</i><sub>3</sub><a>DE</a><u>Fg</u>")
@example("ab<my-tag>c</my-tag><my-tag>d</my-tag>e<my-tag><p>f</p></my-tag>g<my-tag><i>h</i><svg></svg></my-tag>")
@example("<pre>  a\n\n b <img src=x>\n<br>c\n </pre>")
@example("<pre data-language=é>a</pre><pre data-language=b></pre><pre data-language=''>c</pre><pre data-language>d")
def test_twins_make_the_same_tree(page: str) -> None:
    assert_twins_agree(page)


@compiled
@given(st.lists(st.one_of(st.binary(max_size=6), st.sampled_from(BYTES)), max_size=12).map(b"".join))
def test_twins_agree_on_bytes_that_are_no_text(page: bytes) -> None:
    assert_twins_agree(page)


@compiled
@given(soup, st.integers(1, 5))
def test_twins_refuse_the_same_depth(page: str, depth: int) -> None:
    assert_twins_agree(page, CONFIG.model_copy(update={"max_depth": depth}))


@compiled
@pytest.mark.parametrize("nodes", [2046, 2047, 2048, 2049, 4095, 4096, 5000, 6001, 6010])
def test_twins_refuse_the_same_number_of_nodes(nodes: int) -> None:
    assert_twins_agree("<p>a" * 3000, CONFIG.model_copy(update={"max_nodes": nodes}))


@compiled
def test_a_walk_over_its_time_is_given_up() -> None:
    assert outcome(simplify, "<p>a" * 9000, CONFIG.model_copy(update={"max_seconds": 0.0})) == "too_slow"


@compiled
def test_a_page_deeper_than_any_stack_is_walked() -> None:
    depth = 20_000
    config = CONFIG.model_copy(update={"max_depth": depth + 10})
    tree = simplify(LexborHTMLParser("<div>" * depth + "x").root, config)  # type: ignore[arg-type]
    assert len(tree.rows) == depth + 3


def trees(page: str) -> list[SimplifiedTree]:
    root = LexborHTMLParser(page).root
    assert root is not None
    return [walk(root, CONFIG) for walk in (simplify, simplify_pure.simplify)]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("ad-slot", True),
        ("ad_slot", True),
        ("ad", True),
        ("sr-only", True),
        ("overflow-hidden", False),
        ("hidden", True),
        ("jJpQhK", False),
        ("xAdy", False),
    ],
)
def test_a_word_of_two_letters_must_stand_alone(name: str, says: bool) -> None:
    for tree in trees(f"<p class={name}>text"):
        assert bool(tree.rows[:, MARKS].any()) == says


@pytest.mark.parametrize(
    ("body", "joins"),
    [
        ("one<img src=a>two", [0, 1]),
        ("one <img src=a>two", [0, 2]),
        ("one<img src=a>\u200b<img src=b> two", [0, 2]),
        ("\u200b<img src=a>two", [0]),
        ("one<br><img src=a>two", [0, 0]),
        ("one<p><img src=a>two", [0, 0]),
    ],
)
def test_text_behind_an_image_joins_text_before_it(body: str, joins: list[int]) -> None:
    for tree in trees(f"<div>{body}</div>"):
        texts = [number for number, value in enumerate(tree.values) if isinstance(value, str)]
        assert tree.rows[texts, JOIN].tolist() == joins


def test_another_version_of_selectolax_is_walked_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SELECTOLAX", "2.0.0")
    assert module._set_up() is None


@pytest.mark.parametrize(
    ("figure", "sources"),
    [
        ("<figure itemid=/a.jpg><figcaption>seen</figcaption></figure>", ["/a.jpg"]),
        ("<figure itemid=/a.jpg><img src=b.jpg></figure>", ["b.jpg"]),
        ("<img src=b.jpg><figure data-image='/a.png?w=1'></figure>", ["b.jpg", "/a.png?w=1"]),
        ("<figure title=/a.jpg class=b.jpg><pre>code</pre></figure>", []),
    ],
)
def test_a_figure_without_a_picture_may_tell_of_one(figure: str, sources: list[str]) -> None:
    for tree in trees(figure):
        assert [value["src"] for value in tree.values if isinstance(value, dict)] == sources


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<span>HOKA</span><span>Kaha 3</span>", "HOKA Kaha 3"),
        ("<a href=/>Home</a><span>Accessories</span>", "Home Accessories"),
        ("<b>Field</b><i></i><i>RVNG</i>", "Field RVNG"),
        ("<span>Reviews</span><span>12</span>", "Reviews 12"),
        ("<span>€25</span><span>Build</span>", "€25 Build"),
        ("<b>T</b><b>here</b>", "There"),
        ("<b>A</b><b>Bc</b>", "ABc"),  # a letter drawn large
        ("<span>Securi</span><span>ng</span>", "Securing"),
        ("<span>19</span><span>99</span>", "1999"),
        ("<span>12</span><span>K</span>", "12K"),
        ("<b>CO</b><sub>2</sub>", "CO2"),
        ("<b>Play</b>Station", "PlayStation"),
        ("<b>東京</b><b>Tower</b>", "東京Tower"),
        ("<pre><b>ab</b><b>Cd</b></pre>", "abCd"),
    ],
)
def test_two_elements_that_touch_are_two_words_where_one_is_not_written_so(body: str, text: str) -> None:
    for tree in trees(f"<div>{body}</div>"):
        assert [value for value in tree.values if isinstance(value, str)] == [text]


@pytest.mark.parametrize(
    ("body", "texts"),
    [
        ("with <side-note>Yaml 1.2</side-note> in", ["with Yaml 1.2 in"]),
        ("in <st1:place><b>London</b></st1:place>", ["in London"]),
        ("<x-ref>1</x-ref> says", ["1 says"]),
        ("<x-card>one</x-card> <x-card>two</x-card>", ["one", "two"]),
        ("\n<x-card>one</x-card>\n<b>two</b>", ["one", "two"]),
        ("<x-card>one<x-price>two</x-price></x-card>", ["one", "two"]),
        ("says <x-list><p>one</p></x-list> so", ["says", "one", "so"]),
    ],
)
def test_an_element_of_the_pages_own_is_part_of_a_line_where_it_touches_text(body: str, texts: list[str]) -> None:
    for tree in trees(f"<div>{body}</div>"):
        assert [value for value in tree.values if isinstance(value, str)] == texts
