"""The HTML file is one file: it loads nothing, runs nothing but our own, and shows what is hostile as text."""

import base64
import hashlib
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obelics_pipeline.core.config import load_config
from obelics_pipeline.inspect.explain.explanation import Explanation, explanation_of
from obelics_pipeline.inspect.explain.lines import lines_of
from obelics_pipeline.inspect.explain.record import page_in_file
from obelics_pipeline.inspect.explain.side_by_side import side_by_side
from obelics_pipeline.stages.read.page import Page
from tests.inspect.explain.hostile import PAGE, URL, Elements
from tests.stages.extract.written_pages import forum, page

OURS = {
    *(
        "html",
        "head",
        "meta",
        "title",
        "style",
        "script",
        "body",
        "header",
        "main",
        "details",
        "summary",
        "div",
        "label",
    ),
    *("input", "h2", "section", "p", "i", "b", "em", "small", "code", "span", "button", "table", "caption", "tr", "td"),
    *("article", "figure", "pre"),
}
ATTRIBUTES = {
    *(
        "lang",
        "charset",
        "http-equiv",
        "content",
        "name",
        "type",
        "id",
        "class",
        "data-r",
        "data-end",
        "tabindex",
        "dir",
    ),
}


def page_of(html: str, url: str) -> Page:
    return Page(url, "page.html", 0, len(html), 0, None, html, "utf-8", "content", None, None)


def explanation(folder: Path, html: str = PAGE, url: str = URL, *overrides: str) -> Explanation:
    path = folder / "page.html"
    path.write_text(html, encoding="utf-8")
    config = load_config("default", overrides)
    return explanation_of(str(path), page_in_file(path, url, config.reading), config)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Elements:
    return Elements(side_by_side(explanation(tmp_path_factory.mktemp("hostile"))))


def test_nothing_of_the_page_is_markup(shown: Elements) -> None:
    assert {tag for tag, _ in shown.found} <= OURS
    assert {name for _, attributes in shown.found for name in attributes} <= ATTRIBUTES
    assert "How <script>x()</script> </style> and \"quotes\" 'were' found" in shown.text
    assert "${style} $script and {{ 7 * 7 }} are what they are" in shown.text


def test_nothing_is_loaded_or_linked(shown: Elements) -> None:
    for _, attributes in shown.found:
        assert not {"src", "href", "srcset", "action", "data", "poster", "background", "style"} & set(attributes)
    (style,) = shown.inside["style"]
    assert "url(" not in style
    assert "@import" not in style


def test_the_policy_allows_our_script_and_style_alone(shown: Elements) -> None:
    policy = next(a["content"] for _, a in shown.found if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert "default-src 'none'" in policy
    for kind in ("script", "style"):
        (ours,) = shown.inside[kind]
        hashed = base64.b64encode(hashlib.sha256(ours.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{hashed}'" in policy


def test_an_override_of_the_direction_is_shown_by_its_number(shown: Elements) -> None:
    assert "\u202e" not in shown.text
    assert "⟨U+202E⟩gpj.exe" in shown.text


def test_a_final_text_is_lit_with_its_row_and_its_place_in_the_source(shown: Elements) -> None:
    places = [attributes["data-r"] or "" for _, attributes in shown.found if "data-r" in attributes]
    titles = [place for place in places if places.count(place) == 3]
    assert titles, places


def test_the_probability_stands_beside_a_text_and_frames_are_named(tmp_path: Path) -> None:
    html = side_by_side(explanation(tmp_path, PAGE.replace("</body>", "<footer>All rights are ours</footer></body>")))
    assert "<b>frame</b><span>All rights are ours</span>" in html
    assert '<p class="t d' in html
    assert "<b>0." in html


def test_dropped_texts_are_there_with_their_reason(tmp_path: Path) -> None:
    html = side_by_side(explanation(tmp_path, PAGE, URL, "filters.paragraph.word_count={min: 20}"))
    assert re.search(r'class="caption no"[^>]*><small>caption, word_count 1\d, must be &gt;= 20</small>', html)


def test_what_is_of_one_post_of_a_thread_stands_in_one_frame_with_its_number(tmp_path: Path) -> None:
    url = "https://www.example.com/threads/rope.12/"
    html = side_by_side(explanation(tmp_path, page(forum(8)), url))
    frames = html.split('<div class="post"><small>post ')[1:]
    assert [frame[0] for frame in frames] == list("01234567")
    assert all(f"Answer {number}." in frame for number, frame in enumerate(frames))
    before = html.partition('<div class="post">')[0].partition("<article>")[2]
    assert "Which rope for the mooring?" in before
    dropped = side_by_side(explanation(tmp_path, page(forum(8)), url, "filters.paragraph.word_count={min: 1000}"))
    assert dropped.count('<div class="post no">') == 8
    assert '<div class="post' not in side_by_side(explanation(tmp_path))


def test_the_rules_of_the_reference_have_no_tree(tmp_path: Path) -> None:
    html = side_by_side(explanation(tmp_path, PAGE, URL, "extract.rules=obelics"))
    assert "rules make no tree" in html
    assert "nobody in the village had expected" in html


def test_a_page_without_a_document_is_shown_with_its_reason(tmp_path: Path) -> None:
    page = '<meta name="robots" content="noai"><p>Nobody may train on these words.</p>'
    elements = Elements(side_by_side(explanation(tmp_path, page)))
    assert "dropped: noai_meta" in elements.text
    assert "Nobody may train on these words." in elements.text


def test_deep_and_large_pages_are_shown(tmp_path: Path) -> None:
    deep = "<div>" * 3_000 + "<p>" + "word " * 200 + "</div>" * 3_000 + "<p>end of it" * 5_000
    html = side_by_side(explanation(tmp_path, deep, URL, "extract.scope=page"))
    assert html.count('class="t d') == 5_001


@pytest.mark.parametrize("tags", ["ul li", "span", "table tr td"])
def test_what_is_nested_20_000_times_is_shown_or_refused_in_a_word(tmp_path: Path, tags: str) -> None:
    names = tags.split()
    opened, closed = ("".join(f"<{mark}{name}>" for name in names) for mark in ("", "/"))
    page = opened * 20_000 + "word " * 200 + closed * 20_000
    for bounds in ((), ("extract.max_depth=1000000", "extract.max_nodes=1000000")):
        found = explanation(tmp_path, page, URL, *bounds)
        said = "\n".join(lines_of(found))
        assert ("word word" in said) != ("too_deep" in said)
        assert ("word word" if found.documents else "too_deep") in side_by_side(found)


def test_a_word_of_millions_is_cut_and_what_is_left_out_is_counted(tmp_path: Path) -> None:
    html = side_by_side(
        explanation(tmp_path, "<p>" + "w" * 2_000_000 + "<p>What follows is shown.", URL, "extract.scope=page")
    )
    assert "… and 1,950,000 characters more" in html
    assert "What follows is shown." in html
    assert len(html) < 1_000_000


def test_every_level_of_the_tree_has_its_indentation(tmp_path: Path) -> None:
    elements = Elements(side_by_side(explanation(tmp_path)))
    (style,) = elements.inside["style"]
    levels = {name for _, a in elements.found for name in (a.get("class") or "").split() if re.fullmatch(r"d\d+", name)}
    assert len(levels) > 2
    assert all(f".{level}{{padding-left:" in style for level in levels)


FRAGMENTS = (
    *("<p>", "</p>", "<div class=nav>", "</div>", "<script>", "</script>", "<style>", "</style>", "<!--", "-->"),
    *("<title>", "<svg>", "<template>", "<pre>", "<img src=//x.example/a.png>", "<img alt='\"><script>' src=b.png>"),
    *("&lt;script&gt;", "&quot;", "'", '"', ">", "<", "&", "$url", "${raw}", "\u202e", "\r\n", "\x1b[0m"),
    "word " * 60,
)


@settings(max_examples=40)
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=40))
def test_no_page_gets_out(fragments: list[str]) -> None:
    page = page_of("".join(fragments), URL)
    elements = Elements(side_by_side(explanation_of("page.html", page, load_config("default"))))
    assert {tag for tag, _ in elements.found} <= OURS
    assert {name for _, attributes in elements.found for name in attributes} <= ATTRIBUTES
    assert len(elements.inside["script"]) == len(elements.inside["style"]) == 1
