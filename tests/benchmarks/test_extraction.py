import json
import shlex
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import extraction
from benchmarks.extraction import Variant, fifths, figure_cell, html_nodes, judge, measure, plain_nodes, write_documents
from obelics_pipeline.core.document import ImageNode, Node, TextNode
from obelics_pipeline.stages.read.page import Page

URL = "https://example.org/a/page.html"


def page(html: str, offset: int = 0) -> Page:
    return Page(URL, "a.warc.gz", offset, 100, 0, None, html, "utf-8", "header", "text/html", None)


def said(nodes: list[Node]) -> list[str]:
    return [node.text if isinstance(node, TextNode) else node.src for node in nodes]


def test_paragraphs_and_images_keep_their_order() -> None:
    html = "<h1>Head</h1><p>one <b>b</b>old<br>line <img src='x.png'> and <i>on</i></p>loose<ul><li>a<li>b</ul>"
    assert said(html_nodes(html, URL)) == [
        "Head", "one bold line", "https://example.org/a/x.png", "and on", "loose", "a", "b",
    ]  # fmt: skip


def test_a_lazy_image_has_its_url_in_another_attribute() -> None:
    html = "<img src='data:image/gif;base64,R0' data-src='//cdn.org/lazy.jpg'>"
    assert said(html_nodes(html, URL)) == ["https://cdn.org/lazy.jpg"]


@pytest.mark.parametrize(
    "html", ["<img>", "<img src=''>", "<img src='data:image/png;base64,AA'>", "<img src='http://['>"]
)
def test_an_image_without_a_usable_url_is_none(html: str) -> None:
    assert html_nodes(html, URL) == []


def test_no_article_has_no_nodes() -> None:
    assert html_nodes(None, URL) == []


@given(
    st.text("<>&;!-/'\"= \n#xaé" + "\ud800") | st.lists(st.sampled_from(["<p>", "</p>", "<img src=", "a", "<![", "&#"]))
)
def test_any_html_is_read(html: str | list[str]) -> None:
    for node in html_nodes("".join(html), URL):
        assert node.src if isinstance(node, ImageNode) else node.text.strip() == node.text != ""


def test_blank_lines_separate_the_paragraphs_of_a_plain_text() -> None:
    assert said(plain_nodes("a\nb\n \nc\n\n\n", URL)) == ["a\nb", "c"]


def test_a_page_that_raises_costs_only_its_own_document() -> None:
    def extract(html: str, url: str) -> str:
        if html == "bad":
            raise RecursionError
        return html

    pages = [page("<p>one"), page("bad"), page("<p>two")]
    found = measure({"it": Variant(extract, html_nodes)}, pages, rounds=2)["it"]
    assert [said(nodes) for nodes in found.nodes] == [["one"], [], ["two"]]
    assert found.failures == {"RecursionError": 1}
    assert len(found.seconds) == 2


def test_documents_have_the_columns_of_obelics(tmp_path: Path) -> None:
    path = tmp_path / "it.parquet"
    nodes: list[Node] = [TextNode("one"), TextNode("two"), ImageNode("https://e.org/x.png", "x.png"), TextNode("three")]
    write_documents(path, [page("", 7), page("", 9)], [nodes, []])
    first, second = pq.read_table(path).to_pylist()
    assert first["texts"] == ["one\n\ntwo", None, "three"]
    assert first["images"] == [None, "https://e.org/x.png", None]
    assert len(json.loads(first["metadata"])) == 3
    assert json.loads(first["general_metadata"]) == {
        "url": URL, "warc_filename": "a.warc.gz", "warc_record_offset": 7,
    }  # fmt: skip
    assert second["texts"] == second["images"] == []


def command(program: str) -> str:
    return shlex.join([sys.executable, "-c", program, "--gold", "{}"])


def test_the_evaluator_is_given_the_path_and_the_language() -> None:
    program = "import json, sys; print(json.dumps(sys.argv[1:]))"
    assert judge(command(program), Path("/a b.parquet"), "de") == ["--gold", "/a b.parquet", "--lang", "de"]
    assert judge(command(program), Path("/a b.parquet"), None) == ["--gold", "/a b.parquet"]


@pytest.mark.parametrize(
    ("program", "said"),
    [("print('{}'); raise SystemExit('first\\nno such file')", "no such file"), ("print('x')", "no JSON")],
)
def test_an_evaluator_that_fails_is_told_in_one_line(program: str, said: str) -> None:
    with pytest.raises(SystemExit, match=said) as raised:
        judge(command(program), Path("/x"), None)
    assert "\n" not in str(raised.value)


def test_an_evaluator_that_is_not_there_is_told_in_one_line() -> None:
    with pytest.raises(SystemExit, match="--evaluate"):
        judge("/nonexistent/evaluator {}", Path("/x"), None)


@pytest.mark.parametrize(
    ("judged", "cell"),
    [
        ({"text": {"f1": {"value": 0.5, "low": 0.401, "high": 0.6}}}, "50.0 (40.1–60.0)"),
        ({"text": {"f1": {"value": 0.5}}}, "50.0"),
        ({"text": {"f1": {"value": None}}}, "-"),
        ({}, "-"),
    ],
)
def test_a_figure_is_shown_in_percentage_points(judged: dict[str, object], cell: str) -> None:
    assert figure_cell(judged, "text.f1") == cell


def test_fifths_are_the_shortest_the_middle_and_the_longest_pages() -> None:
    pages = [page("x" * length) for length in (9, 1, 5, 3, 7, 2, 8, 4, 6, 10)]
    found = {name: [len(one.html) for one in some] for name, some in fifths(pages).items()}
    assert found == {"shortest": [1, 2], "middle": [5, 6], "longest": [9, 10]}


def test_the_tables_name_every_variant(
    warcs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = 'print(\'{"text": {"f1": {"value": 0.25}}}\')'
    names = ["parse", "page", "obelics"]
    given = [
        *map(str, warcs),
        "--rounds",
        "1",
        "--only",
        *names,
        "--evaluate",
        command(program),
        "--keep",
        str(tmp_path),
        "--fifths",
        "--stage",
    ]
    monkeypatch.setattr(sys, "argv", ["extraction.py", *given])
    extraction.main()
    speed, _, quality = capsys.readouterr().out.partition("Quality")
    assert all(f"\n| {name} " in speed for name in names)
    assert "\n| stage " in speed and speed.count("\n| page ") == 4  # all pages, and three fifths
    assert "\n| page" in quality and " 25.0 |" in quality and "\n| parse" not in quality
    assert sorted(path.name for path in tmp_path.iterdir()) == ["obelics.parquet", "page.parquet"]
