"""Every vector of the reference is asserted: the same, or the departure that tests/vectors/obelics_vectors.md names."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from obelics_pipeline.core.config.extraction import ExtractionConfig
from obelics_pipeline.core.document import TextNode, interleave
from obelics_pipeline.stages.extract.page import extract_page

ROOT = Path(__file__).parents[3]
OBELICS = ExtractionConfig(rules="obelics")
VECTORS = {
    vector["name"]: vector
    for vector in map(json.loads, (ROOT / "tests/vectors/obelics_vectors.jsonl").read_text("utf-8").splitlines())
}
KEEP = (
    "basic_blocks_title_and_inline whitespace_collapse inline_spacing_preserved div_vs_p_separators "
    "double_br_makes_paragraph definition_list linked_image_kept image_mid_paragraph_splits_text comments_removed "
    "css_footer_siteinfo_any_tag html_entities_in_src_and_alt unclosed_tags empty_nodes_and_nbsp "
    "gallery_consecutive_images blockquote_center_address data_uri_dropped script_style_noscript plain_text_no_tags "
    "empty_document same_image_twice_kept_here more_link_block rendered_sizes filename_metadata"
).split()

DEPARTURES: dict[str, list[dict[str, Any]]] = {
    "br_variants": [{"text": "a1\na2\na3\na4\na5\na6"}],
    "more_link_inside_paragraph_is_inline": [
        {"text": "Teaser one\n\nEND_OF_DOCUMENT_TOKEN_TO_BE_REPLACED\n\nTeaser two."}
    ],
    "literal_br_tag_marker_injection": [{"text": "a#BR_TAG#b"}],
}


def documented() -> dict[str, str]:
    """The table beside the vectors: vector name to "same" or "departs"."""
    text = (ROOT / "tests/vectors/obelics_vectors.md").read_text("utf-8")
    return dict(re.findall(r"^\| `(\w+)` \| (same|departs) \|", text, re.MULTILINE))


def extracted(vector: dict[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    page = extract_page(vector["html"], vector["url"], OBELICS)
    columns = interleave(page.nodes, vector["url"])
    items: list[dict[str, Any]] = []
    metadata = []
    for text, image, about in zip(columns.texts, columns.images, columns.metadata, strict=True):
        if about is None:
            items.append({"text": text})
        else:
            items.append({"image": image, "alt": about.get("alt_text")})
            metadata.append(about)
    return items, metadata


def test_the_table_of_departures_names_every_vector_once() -> None:
    assert documented().keys() == VECTORS.keys()
    assert {name for name, verdict in documented().items() if verdict == "departs"} == DEPARTURES.keys()


def test_no_vector_marked_keep_departs() -> None:
    assert len(KEEP) == 23
    assert not DEPARTURES.keys() & set(KEEP)


@pytest.mark.parametrize("name", VECTORS)
def test_the_obelics_rules_do_what_the_table_says(name: str) -> None:
    vector = VECTORS[name]
    items, _ = extracted(vector)
    if name in DEPARTURES:
        assert items == DEPARTURES[name]
        assert items not in (vector["expected"], vector["expected_after_bs4"])
    else:
        assert items in (vector["expected"], vector["expected_after_bs4"])


@pytest.mark.parametrize("name", [n for n, v in VECTORS.items() if v.get("image_metadata")])
def test_image_metadata_is_the_references(name: str) -> None:
    vector = VECTORS[name]
    _, metadata = extracted(vector)
    ours = [{k: v for k, v in m.items() if k not in ("src", "alt_text", "document_url")} for m in metadata]
    assert ours == vector["image_metadata"]
    assert all(m["document_url"] == vector["url"] for m in metadata)


def test_only_a_more_link_becomes_an_end_of_document_node() -> None:
    token = "END_OF_DOCUMENT_TOKEN_TO_BE_REPLACED"
    page = extract_page(f"<p>x</p><p>{token}</p><a class=more-link>m</a>", "https://e.org/", OBELICS)
    assert [(n.text, n.role) for n in page.nodes if isinstance(n, TextNode)] == [
        ("x", "paragraph"), (token, "paragraph"), (token, "end_of_document")
    ]  # fmt: skip
