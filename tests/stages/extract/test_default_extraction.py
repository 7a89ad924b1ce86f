"""Main content where it can be told, else the page; what describes a picture stays with it."""

import pytest

from obelics_pipeline.core.config.extraction import ExtractionConfig
from obelics_pipeline.core.document import ImageNode, TextNode
from obelics_pipeline.stages.extract.page import ExtractedPage, extract_page
from tests.stages.extract.written_pages import article, forum, links, page

URL = "https://www.example.com/blog/post.html"


def extracted(html: str, **config: str) -> ExtractedPage:
    return extract_page(html, URL, ExtractionConfig.model_validate(config))


def shape(found: ExtractedPage) -> list[str]:
    return [n.text[:8] if isinstance(n, TextNode) else f"[{n.role} {n.src.rpartition('/')[2]}]" for n in found.nodes]


@pytest.mark.parametrize(
    "html",
    ["<div>Hello</div><div>World</div>", links("menu") + links("more"), "<table><tr><td>a<td>b<tr><td>c<td>d</table>"],
)
def test_of_a_page_that_nothing_can_be_told_of_something_is_kept(html: str) -> None:
    found = extracted(page(html))
    assert found.nodes != []
    assert found.main_content_confidence is not None
    assert found.main_content_confidence < 0.8


def test_without_a_choice_main_content_is_kept() -> None:
    main, whole = extracted(page(article())), extracted(page(article()), scope="page")
    assert (main.main_content_confidence or 0) > 0.8
    assert "Part 7. " in shape(main)
    assert not any("menu" in n.text for n in main.nodes if isinstance(n, TextNode))
    assert any("menu" in n.text for n in whole.nodes if isinstance(n, TextNode))
    assert whole.main_content_confidence is None


def test_a_caption_stands_next_to_its_picture() -> None:
    figure = "<figure><img src=/pier.jpg><figcaption>Pier, 1880</figcaption></figure>"
    found = shape(extracted(page(article(figure))))
    at = found.index("[inline pier.jpg]")
    assert found[at - 1 : at + 3] == ["Part 3. ", "[inline pier.jpg]", "Pier, 18", "Part 4. "]


def test_a_caption_goes_with_its_picture() -> None:
    icon = "<figure><img src=/pier.jpg width=16 height=16><figcaption>Photo: archive</figcaption></figure>"
    teasers = f"<div class=related>{icon * 6}</div>"
    assert "Photo: a" not in shape(extracted(page(article(after=teasers))))


def test_the_lead_picture_before_the_text_stays() -> None:
    found = shape(extracted(page(article(before="<img src=/lead.jpg width=1200 height=800>"))))
    assert "[lead lead.jpg]" in found
    assert found.index("[lead lead.jpg]") < found.index("Part 0. ")


def test_markdown_says_the_same_in_other_marks() -> None:
    html = page(article("<h2>Between</h2><ul><li>one, two and three<li>four, five and six</ul>"))
    plain, marked = extracted(html), extracted(html, markup="markdown")
    assert len(plain.nodes) == len(marked.nodes)
    assert [n.text for n in plain.nodes if isinstance(n, TextNode) and n.role == "heading"][-1] == "Between"
    assert [n.text for n in marked.nodes if isinstance(n, TextNode) and n.role == "heading"][-1] == "## Between"


@pytest.mark.parametrize("html", [page(article()), page(forum()), page(links("menu"))])
def test_the_same_page_is_extracted_the_same_again(html: str) -> None:
    assert extracted(html) == extracted(html)


def test_pictures_alone_are_kept() -> None:
    nodes = extracted("<img src=/a.jpg><img src=/b.jpg>").nodes
    assert [n.src for n in nodes if isinstance(n, ImageNode)] == [f"https://www.example.com/{i}.jpg" for i in "ab"]


POSTS = "".join(f"<p>{'Another sentence of a thread that a reader came for. ' * 8}</p>" for _ in range(3))
SHORT = ("A short text that is all of the page. " * 5).strip()


def noscript(shown: str, kept: str = POSTS) -> list[str]:
    found = extracted(f"<html><body><div>{shown}</div><noscript>{kept}</noscript></body></html>", scope="page")
    return [n.text for n in found.nodes if isinstance(n, TextNode)]


def test_a_splash_line_does_not_hide_a_thread_that_is_there_for_those_without_scripts() -> None:
    assert len(noscript("Loading the forum")) == 4


def test_a_text_that_is_shown_is_not_doubled_by_what_is_there_for_those_without_scripts() -> None:
    assert noscript(SHORT) == [SHORT]
    assert noscript("Loading the forum", "<p>Please switch on scripts.</p>") == ["Loading the forum"]
