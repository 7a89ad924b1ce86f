"""What the default rule set makes of a page: the known defects of the reference, mended."""

import pytest

from obelics_pipeline.core.config.extraction import ExtractionConfig
from obelics_pipeline.core.document import ImageNode, Node, TextNode
from obelics_pipeline.stages.extract.page import extract_page

URL = "https://www.example.com/blog/2021/post.html"
CONFIG = ExtractionConfig(rules="default", scope="page")


def nodes(html: str) -> list[Node]:
    return extract_page(html, URL, CONFIG).nodes


def texts(html: str) -> list[tuple[str, str]]:
    return [(n.role, n.text) for n in nodes(html) if isinstance(n, TextNode)]


def sources(html: str) -> list[str]:
    return [n.src.removeprefix("https://www.example.com") for n in nodes(html) if isinstance(n, ImageNode)]


def shape(html: str) -> list[str]:
    return [n.text if isinstance(n, TextNode) else f"[{n.role} {n.src.rpartition('/')[2]}]" for n in nodes(html)]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>left <b> bold </b> right<i>glued</i></p>", ["left bold rightglued"]),
        ("<div>one<div>two</div>three</div>four", ["one", "two", "three", "four"]),
        ("<p>a<br class=x>b<BR>c</p>", ["a\nb\nc"]),
        ("<p>first<br> <br/>second</p>", ["first", "second"]),
        ("<br>a<br>", ["a"]),
        ("<p>a&nbsp;\n\t b\u3000c&shy;d</p>", ["a b cd"]),
        ("<p>&nbsp;</p><p>\u200b</p><p>x</p>", ["x"]),
        ("a<hr>b<address>c</address>d", ["a", "b", "c", "d"]),
        ("<a href=1>Home</a><a href=2>About</a>", ["Home About"]),
        ("<a href=1>日</a><a href=2>本</a>", ["日本"]),
        ("<my-card>one<x-y>two</x-y></my-card>", ["one", "two"]),
        ("<p>a#BR_TAG#b END_OF_DOCUMENT_TOKEN_TO_BE_REPLACED</p>", ["a#BR_TAG#b END_OF_DOCUMENT_TOKEN_TO_BE_REPLACED"]),
        ("<p>a&#0;b</p>", ["a\ufffdb"]),
        ("<ruby>漢字<rp>(</rp><rt>かんじ</rt><rp>)</rp></ruby>", ["漢字"]),
        ("<math><mi>x</mi><mo>=</mo><annotation>tex</annotation></math>", ["$x =$"]),
    ],
)
def test_text_is_cut_where_a_browser_shows_a_block(html: str, expected: list[str]) -> None:
    assert [text for _, text in texts(html)] == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<h2>Head<br>line</h2>", [("heading", "Head\nline")]),
        ("<h2><button>Question</button></h2><button>Buy</button>", [("heading", "Question")]),
        ("<ul><li>flour<li><p>sugar</p></ul>", [("list", "flour\nsugar")]),
        ("<ol><li>a<ul><li>b<ol><li>c</ol></ul><li>d</ol>", [("list", "a\n  b\n    c\nd")]),
        ("<dl><dt>Term<dd>Meaning</dl>", [("list", "Term\n  Meaning")]),
        (f"<ol><li>{'word ' * 80}<p>more</ol>", [("list", "word " * 79 + "word\nmore")]),
        (f"<ol><li>{'w' * 400}<p>{'m' * 400}</ol>", [("paragraph", "w" * 400), ("paragraph", "m" * 400)]),
        ("<blockquote>q<p>r</blockquote>s", [("quote", "q"), ("quote", "r"), ("paragraph", "s")]),
        ("<pre>def f():\n    return 1\n\n  </pre>", [("code", "def f():\n    return 1")]),
        ("<pre><code>a  b</code><br>c</pre>", [("code", "a  b\nc")]),
        ("<details><summary>S</summary>D</details>", [("paragraph", "S"), ("paragraph", "D")]),
        ("<figure><figcaption>Cap <b>tion</b></figcaption></figure>", [("caption", "Cap tion")]),
        (
            "<table><caption>T</caption><tr><th>a<th>b<tr><td>1<td>2<tr><td><td> 3 <br>x</table>",
            [("caption", "T"), ("table", "a\tb\n1\t2\n\t3 x")],
        ),
        ("<table><tr><td>only<td>row</table>", [("paragraph", "only"), ("paragraph", "row")]),
        ("<table><tr><td>a<tr><td>b</table>", [("paragraph", "a"), ("paragraph", "b")]),
        ("<table role=presentation><tr><td>a<td>b<tr><td>c<td>d</table>", [("paragraph", t) for t in "abcd"]),
        ("<table><tr><td>a<td>b<tr><td>c<td><p>d</table>", [("paragraph", t) for t in "abcd"]),
        (
            "<table><tr><td>x<td><table><tr><td>a<td>b<tr><td>c<td>d</table><tr><td>y<td>z</table>",
            [("paragraph", "x"), ("table", "a\tb\nc\td"), ("paragraph", "y"), ("paragraph", "z")],
        ),
    ],
)  # fmt: skip
def test_structure_is_kept_as_roles(html: str, expected: list[tuple[str, str]]) -> None:
    assert texts(html) == expected


@pytest.mark.parametrize(
    "html",
    [
        "<nav>x</nav>", "<script>x</script>", "<style>x</style>", "<template>x</template>", "<svg><text>x</text></svg>",
        "<textarea>x</textarea>", "<select><option>x</select>", "<button>x</button>", "<iframe>x</iframe>",
        "<aside>x</aside>", "<footer>x</footer>", "<div role=navigation>x</div>", "<div role=contentinfo>x</div>",
        "<p hidden>x</p>", "<span aria-hidden=true>x</span>", "<div style='color:red; DISPLAY : none'>x</div>",
        "<noscript>x</noscript>", "<header><p>x</p></header>", "<div role=banner>x</div>", "<dialog>x</dialog>",
        "<nav><img src=/a.jpg></nav>", "<header><img src=/a.jpg></header>", "<object><img src=/a.jpg></object>",
    ],
)  # fmt: skip
def test_what_is_no_content_is_dropped(html: str) -> None:
    assert shape(f"<p>before</p>{html}<p>after</p>") == ["before", "after"]


def test_headers_of_articles_and_titles_of_pages_stay() -> None:
    assert shape("<header><a>Menu</a><h1>Title</h1><p>x</p></header><p>y</p>") == ["Title", "y"]
    assert shape("<article><header><h1>Title</h1><p>By</p></header>y</article>") == ["Title", "By", "y"]
    assert shape("<body style='display:none'><main hidden>y</main>") == ["y"]
    assert shape("<p hidden=until-found>y</p>") == ["y"]
    assert shape("<blockquote>q<footer>Author</footer></blockquote>") == ["q", "Author"]


def test_images_stand_where_they_stand() -> None:
    assert shape("<p>Start <img src=a.jpg alt=' A  b '> end.</p>") == ["Start", "[lead a.jpg]", "end."]
    assert shape("<figure><img src=f.jpg><figcaption>Cap</figcaption></figure>") == ["[lead f.jpg]", "Cap"]
    assert shape("<ul><li>a<li><img src=l.jpg>b</ul>") == ["a", "[lead l.jpg]", "b"]
    assert shape("<table><tr><td>a <img src=c.jpg></table>") == ["a", "[lead c.jpg]"]
    assert shape("<table><tr><td>a<td>b<tr><td>c<td><amp-img src=d.jpg></table>") == ["a", "b", "c", "[lead d.jpg]"]
    (image,) = nodes("<a href=/big><img src='/s.jpg' alt=' A  b ' width=300px height=50%></a>")
    assert isinstance(image, ImageNode)
    assert (image.alt_text, image.rendered_width, image.rendered_height) == ("A b", 300, "50%")
    assert image.unformatted_src == "/s.jpg"


def test_base_href_counts() -> None:
    html = "<head><base href='//static.example.net/img/'><base href=/no/></head><img src=b.jpg><img src=/c.jpg>"
    assert sources(html) == ["https://static.example.net/img/b.jpg", "https://static.example.net/c.jpg"]
    assert sources("<base href='javascript:x'><img src=b.jpg>") == ["/blog/2021/b.jpg"]


@pytest.mark.parametrize(
    "html",
    [
        "<img src='data:image/gif;base64,R0' data-src=/real.jpg>",
        "<img src=/1x1.gif data-original=/real.jpg>",
        "<img src=/thumb.jpg data-src=/real.jpg>",
        "<img src=/blank.gif data-srcset='/small.jpg 300w, /real.jpg 900w, /huge.jpg 4000w'>",
        "<img src=/thumb.jpg srcset='/real.jpg 2x, /thumb.jpg 1x'>",
        "<img src=/spacer.png data-hero-src=/real.jpg>",
        "<amp-img src=/real.jpg><img src=/no.jpg></amp-img>",
        "<amp-img src=/real.jpg width=300 height=200><noscript><img src=/real.jpg></noscript></amp-img>",
        "<picture><source type=image/avif srcset=/x><source type=image/jpeg srcset=/real.jpg><img src=/x></picture>",
        "<picture><source data-srcset='/real.jpg 800w'><img src='data:image/gif;base64,R0'></picture>",
        "<picture><noscript><img src=/real.jpg></noscript></picture>",
        "<noscript><img src=/real.jpg></noscript>",
        "<img data-src=/real-300x200.jpg><noscript><img src=/real.jpg></noscript>",
        "<div><img data-src=/real.jpg></div><noscript><img src=/real.jpg></noscript>",
        "<p></p><noscript><img src=/real.jpg></noscript><img data-src=/real-300x200.jpg>",
        "<img src=/placeholder.png data-src=''><noscript><img src=/real.jpg></noscript>",
        "<img src=/real.jpg><noscript><img src=/real.jpg></noscript>",
        "<div><img src=/max/60/real.jpg?q=20></div><noscript><img src=/real.jpg></noscript>",
        "<img src=/real.jpg><p></p><noscript><img src='/count?c1=2&cv=2.0'></noscript>",
        "<img src=/real.jpg><img src=/track.gif width=1 height=1><img src=about:blank><img src=''><img>",
    ],
)
def test_each_picture_is_found_once(html: str) -> None:
    assert sources(html) == ["/real.jpg"]


def test_two_pictures_are_two() -> None:
    lazy = "<img data-src=/a.jpg><img data-src=/b.jpg><noscript><img src=/b.jpg></noscript>"
    assert sources(lazy) == ["/a.jpg", "/b.jpg"]
    assert sources("<img src=/a.jpg><noscript><img src=/b.jpg></noscript>") == ["/a.jpg", "/b.jpg"]
    assert sources("<img src=/a.jpg>text<img src=/a.jpg>") == ["/a.jpg", "/a.jpg"]
    assert sources("<img src=/a.jpg><img src=/a.jpg>") == ["/a.jpg"]  # for wide screens and for narrow ones
    assert sources("<picture><source srcset=/a.avif type=image/avif><img src=/a.avif></picture>") == ["/a.avif"]
