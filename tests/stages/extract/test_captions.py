"""A text that is named as a caption stays with the picture right before it."""

import pytest

from obelics_pipeline.core.config.extraction import ExtractionConfig
from obelics_pipeline.core.document import TextNode
from obelics_pipeline.stages.extract.page import extract_page
from tests.stages.extract.written_pages import article, page

PICTURE = "<img src=/pier.jpg width=640 height=480>"


def around_picture(html: str, scope: str = "main") -> list[str]:
    """What the picture is, and the role and the text behind it."""
    config = ExtractionConfig.model_validate({"scope": scope})
    nodes = extract_page(page(article(html)), "https://www.example.com/a", config).nodes
    at = next(i for i, node in enumerate(nodes) if not isinstance(node, TextNode))
    behind = nodes[at + 1]
    return [behind.role, behind.text] if isinstance(behind, TextNode) else []


@pytest.mark.parametrize("scope", ["main", "page"])
@pytest.mark.parametrize(
    "html",
    [
        f"<div class=wp-caption>{PICTURE}<p class=wp-caption-text>Pier, 1880</p></div>",
        f"<div>{PICTURE}</div><div class=photo-credit>Pier, 1880</div>",
        f"<figure>{PICTURE}<figcaption>Pier, 1880</figcaption></figure>",
        f"<figure>{PICTURE}<div class=caption><span>Pier, 1880</span></div></figure>",
    ],
)
def test_a_text_named_as_a_caption_is_one(html: str, scope: str) -> None:
    assert around_picture(html, scope) == ["caption", "Pier, 1880"]


@pytest.mark.parametrize("html", [f"{PICTURE}<p>A pier that was built in 1880.</p>",
                                  f"{PICTURE}<p>A pier that was built in 1880.</p><p class=caption>Other</p>",
                                  f"{PICTURE}<p class=caption>" + "A pier that was built in 1880. " * 20])  # fmt: skip
def test_other_texts_behind_a_picture_are_none(html: str) -> None:
    assert around_picture(html)[0] == "paragraph"
