import subprocess
import sys
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obelics_pipeline.core.config.extraction import ExtractionConfig
from obelics_pipeline.core.document import ImageNode, Node, TextNode
from obelics_pipeline.stages.extract.links import LinkCounts
from obelics_pipeline.stages.extract.page import ExtractedPage, PageRejected, extract_page

URL = "https://www.example.com/blog/2021/post.html"
CONFIGS = [ExtractionConfig(rules="default"), ExtractionConfig(rules="obelics")]
both = pytest.mark.parametrize("config", CONFIGS, ids=["default", "obelics"])

TAGS = (
    "a b br div p span h1 h2 ul ol li dl dt dd table caption tr td th pre code blockquote figure figcaption picture "
    "source img noscript header footer nav aside main article section details summary script style template svg math "
    "mi form input select option textarea button title meta base head body html my-card h7 center font i hr ruby rt "
    "iframe object video frameset plaintext amp-img dialog legend"
).split()
ATTRIBUTES = [
    "", " class=footer", " class=more-link", " class=date", " id=menu", " hidden", " style='display: none'",
    " aria-hidden=true", " role=navigation", " role=banner", " role=presentation", " src=/w/x.jpg",
    " src='data:image/gif;base64,R0' data-src=/lazy.jpg", " srcset='/a.jpg 1x, /b.jpg 2x'", " href='//[bad'",
    " width=1 height=1", " alt=picture", " content=noai name=robots",
]  # fmt: skip
words = st.sampled_from(
    ["alpha", "beta", "gamma delta", " ", "\n", "&nbsp;", "日本語", "&amp;", "<", "\0", "&#0;", "x<!--c-->y"]
)
opening = st.builds(lambda t, a: f"<{t}{a}>", st.sampled_from(TAGS), st.sampled_from(ATTRIBUTES))
closing = st.sampled_from(TAGS).map(lambda t: f"</{t}>")
markup = st.lists(st.one_of(words, words, opening, closing), max_size=40).map("".join)


def text_nodes(nodes: list[Node]) -> list[TextNode]:
    return [n for n in nodes if isinstance(n, TextNode)]


def images(nodes: list[Node]) -> list[ImageNode]:
    return [n for n in nodes if isinstance(n, ImageNode)]


def letters(text: str) -> str:
    return "".join(text.split())


@both
@given(html=st.one_of(markup, st.text(max_size=300), st.text("<>/='\"! -abdiptv&;#x0\n", max_size=200)))
@settings(max_examples=100, deadline=None)
def test_any_string_is_extracted_or_rejected(config: ExtractionConfig, html: str) -> None:
    try:
        page = extract_page(html, URL, config)
    except PageRejected:
        return
    assert all(node.text.strip() and "\0" not in node.text for node in text_nodes(page.nodes))
    for image in images(page.nodes):
        assert image.src.startswith(("http://", "https://", "ftp"))


@both
@given(html=markup)
@settings(max_examples=100, deadline=None)
def test_texts_are_texts_of_the_page_in_its_order(config: ExtractionConfig, html: str) -> None:
    """The letters of the output are a subsequence of the letters of the page's text."""
    page = extract_page(html, URL, config)
    source = iter(letters(all_text(html)))
    for node in text_nodes(page.nodes):
        if node.role != "end_of_document":
            assert all(letter in source for letter in letters(node.text)), node


def all_text(html: str) -> str:
    from selectolax.lexbor import LexborHTMLParser

    root = LexborHTMLParser(html.replace("\0", "").encode("utf-8", "replace")).root
    assert root is not None
    return "".join(node.text_content or "" for node in root.traverse(include_text=True) if node.is_text_node)


@both
@given(order=st.permutations(range(12)), kinds=st.lists(st.sampled_from("pthi"), min_size=12, max_size=12))
@settings(max_examples=50, deadline=None)
def test_nodes_come_in_the_order_of_the_page(config: ExtractionConfig, order: list[int], kinds: list[str]) -> None:
    block: dict[str, Callable[[int], str]] = {
        "p": lambda i: f"<p>mark{i}z</p>",
        "t": lambda i: f"<div>mark<b>{i}z</b></div>",
        "h": lambda i: f"<h2>mark{i}z</h2>",
        "i": lambda i: f"<p><img src='/mark{i}z.jpg'></p>",
    }
    html = "".join(block[kind](i) for i, kind in zip(order, kinds, strict=True))
    page = extract_page(html, URL, config.model_copy(update={"scope": "page"}))
    flat = " ".join(n.text if isinstance(n, TextNode) else n.src for n in page.nodes)
    places = [flat.index(f"mark{i}z") for i in order]
    assert places == sorted(places)


def test_lone_surrogates_do_not_raise() -> None:
    assert text_nodes(extract_page("<p>a \ud800 b", URL, CONFIGS[0]).nodes)[0].text == "a ? b"


@both
def test_the_head_is_reported(config: ExtractionConfig) -> None:
    html = (
        "<html lang='pt-BR'><head><title> A\n title </title><meta name=Robots content='NoAI, noimageai,'>"
        "<p>moves the rest into the body<meta name=robots content=noindex>"
    )
    page = extract_page(html, URL, config)
    assert (page.title, page.html_lang) == ("A title", "pt-BR")
    assert page.robots >= {"noai", "noimageai"}
    if config.rules == "default":
        assert page.robots == {"noai", "noimageai", "noindex"}


def test_an_empty_page_has_no_nodes() -> None:
    assert extract_page("", URL, CONFIGS[0]) == ExtractedPage([], None, None, frozenset(), 0.0, links=LinkCounts())
    whole = CONFIGS[0].model_copy(update={"scope": "page"})
    assert extract_page("", URL, whole) == ExtractedPage([], None, None, frozenset(), None, links=LinkCounts())


@both
def test_too_many_nodes_are_refused(config: ExtractionConfig) -> None:
    small = config.model_copy(update={"max_nodes": 5_000})
    with pytest.raises(PageRejected) as rejected:
        extract_page("x<br>" * 4_000, URL, small)  # 4,000 tags, 8,000 nodes
    assert rejected.value.reason == "too_many_nodes"


@both
def test_too_deep_a_page_is_refused_by_the_walk(config: ExtractionConfig) -> None:
    extract_page("<div>" * 400 + "x", URL, config)
    with pytest.raises(PageRejected) as rejected:
        extract_page("<div>" * 400 + "x", URL, config.model_copy(update={"max_depth": 300}))
    assert rejected.value.reason == "too_deep"


def test_too_slow_a_page_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 1.0, 11.0, 12.0])
    monkeypatch.setattr("time.process_time", lambda: next(clock))
    with pytest.raises(PageRejected) as rejected:
        extract_page("<p>x" * 6_000, URL, CONFIGS[0])
    assert rejected.value.reason == "too_slow"


SUBPROCESS = """
from pathlib import Path
from obelics_pipeline.core.config.extraction import ExtractionConfig
from obelics_pipeline.stages.extract.page import PageRejected, extract_page
pages = {pages}
for page in pages:
    for rules in ("default", "obelics"):
        try:
            print(len(extract_page(page, "https://e.org/", ExtractionConfig(rules=rules)).nodes), end=" ")
        except PageRejected as rejected:
            print(rejected.reason, end=" ")
status = Path("/proc/self/status").read_text()  # not ru_maxrss: that is the highest of the parent, too
print(int(status.partition("VmHWM:")[2].split()[0]) // 1024)
"""
PATHOLOGICAL = {
    "'<div>' * 100_000": "too_deep",
    "'<div>' * 1_000_000": "too_many_nodes",
    "'<b>' * 1_600_000": "too_many_nodes",
    "'<p ' + ' '.join(f'a{i}=1' for i in range(200_000)) + '>x'": "too_many_nodes",
    "'<p ' + ' '.join(f'a{i}=\">\"' for i in range(60_000)) + '>x'": "too_many_nodes",
    "'<p>' + ''.join(f'<b a{i}>' for i in range(5_000)) + '<p>x' * 5_000": "too_many_nodes",
    "'<ul><li>' * 100_000": "too_deep",
    "'<a><b><i><div>' * 20_000": "too_deep",
    "'word ' * 1_000_000": "1",
}


def test_pathological_pages_cost_themselves_only() -> None:
    """In a process of their own: they must not crash it, hang it, or bring it to 500 MB."""
    code = SUBPROCESS.format(pages=f"[{', '.join(PATHOLOGICAL)}]")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=200, check=True)
    *outcomes, megabytes = done.stdout.split()
    assert outcomes == [outcome for outcome in PATHOLOGICAL.values() for _ in range(2)]
    assert int(megabytes) < 500
