import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.config import FinishConfig, Threshold
from obelics_pipeline.core.document import Document, ImageNode, Node, TextNode, interleave
from obelics_pipeline.filters.rule import paragraph_score
from obelics_pipeline.stages.shard.finish import clean, drop_markers, finish, lack

END = "END_OF_DOCUMENT_TOKEN_TO_BE_REPLACED"
CONFIG = FinishConfig(paragraph={"spam_word_ratio": Threshold(below=0.12)}, end_of_document_token=END)
VECTORS = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "vectors/obelics_final_stage_vectors.jsonl").read_text().splitlines()
]


def as_document(items: list[Any], language: str | None = "en") -> Document:
    nodes: list[Node] = []
    for item in items:
        if isinstance(item, dict):
            nodes.append(ImageNode(item["image"], item["image"]))
        else:
            nodes += [TextNode(paragraph) for paragraph in item.split("\n\n")]
    return Document("d", "http://a.example", "w", 0, 0, nodes, language=language)


def shown(document: Document) -> list[Any]:
    out = interleave(document.nodes, document.url)
    return [text if image is None else {"image": image} for text, image in zip(out.texts, out.images, strict=True)]


def reasons(document: Document) -> list[str | None]:
    return [node.reason for node in document.nodes]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_stage_10_of_the_reference_is_reproduced(vector: dict[str, Any]) -> None:
    document = as_document(vector["input"])
    clean(document.nodes)
    assert shown(document) == vector["stage10"]
    assert (lack(document, 1, 10**9) is None) == vector["stage10_kept"]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_stage_13_of_the_reference_is_reproduced(vector: dict[str, Any]) -> None:
    document = as_document(vector["input"])
    finish(document, CONFIG, paragraph_score)
    assert shown(document) == vector["stage13"]
    assert (lack(document, 1, 10**9, END) is None) == vector["stage13_kept"]


def test_there_are_as_many_vectors_as_the_reference_gave() -> None:
    assert len(VECTORS) == 15


def test_every_loss_is_marked_with_its_reason() -> None:
    document = as_document(
        ["share tweet follow", {"image": "u1"}, "", {"image": "u1"}, f"Good words here.\n\n{END}\n\n{END}"]
    )
    finish(document, CONFIG, paragraph_score)
    assert reasons(document) == [
        "spam_word_ratio", None, "empty_text", "repeated_image", None, "end_of_document", "end_of_document",
    ]  # fmt: skip
    assert document.nodes[0].scores == {"spam_word_ratio": 1.0}  # type: ignore[union-attr]


def test_a_node_that_was_dropped_before_keeps_its_reason_and_shields_nothing() -> None:
    document = as_document([{"image": "u1"}, "text", {"image": "u1"}])
    document.nodes[0].reason = "image_side"
    finish(document, CONFIG, paragraph_score)
    assert reasons(document) == ["image_side", None, None]


def test_a_marker_is_known_by_its_role_where_no_token_is_configured() -> None:
    nodes: list[Node] = [TextNode("a"), TextNode("x", "end_of_document"), TextNode("y", "end_of_document")]
    drop_markers(nodes, None)
    assert [node.reason for node in nodes] == [None, "end_of_document", "end_of_document"]


def test_without_a_configured_token_text_that_imitates_it_is_text() -> None:
    document = as_document(["a", {"image": "u1"}, END])
    finish(document, FinishConfig(), paragraph_score)
    assert reasons(document) == [None, None, None]


def test_markers_are_exempt_from_paragraph_filters() -> None:
    config = CONFIG.model_copy(update={"paragraph": {"word_count": Threshold(min=2)}})
    document = as_document([f"{END}\n\none", {"image": "u1"}, "two words"])
    finish(document, config, paragraph_score)
    assert reasons(document) == [None, "word_count", None, None]


def test_a_filter_applies_by_language_and_role() -> None:
    threshold = Threshold(below=0.12, languages={"de": None}, roles=("paragraph",))
    config = CONFIG.model_copy(update={"paragraph": {"spam_word_ratio": threshold}})
    for language, role, reason in (
        ("en", "paragraph", "spam_word_ratio"),
        ("en", "caption", None),
        ("de", "paragraph", None),
    ):
        document = as_document(["share tweet follow"], language)
        document.nodes[0].role = role
        finish(document, config, paragraph_score)
        assert reasons(document) == [reason]


def test_a_score_that_cannot_be_measured_drops_nothing() -> None:
    document = as_document(["share tweet follow"])
    finish(document, CONFIG, lambda *_: None)
    assert reasons(document) == [None]


def test_repeated_images_stay_where_the_config_says_so() -> None:
    document = as_document([{"image": "u1"}, "a", {"image": "u1"}])
    finish(document, FinishConfig(drop_repeated_images=False), paragraph_score)
    assert reasons(document) == [None, None, None]


@pytest.mark.parametrize(
    ("items", "limits", "reason"),
    [
        (["a", {"image": "u"}], (1, 30), None),
        ([{"image": "u"}], (1, 30), "no_text"),
        ([], (0, 30), "no_text"),
        (["a"], (1, 30), "image_count"),
        (["a"], (0, 30), None),
        (["a", {"image": "u"}, {"image": "v"}], (1, 1), "image_count"),
        (["a", {"image": "u"}, {"image": "v"}], (2, 2), None),
        ([END, {"image": "u"}], (1, 30), "no_text"),
    ],
)
def test_a_document_needs_text_and_so_many_images(
    items: list[Any], limits: tuple[int, int], reason: str | None
) -> None:
    assert lack(as_document(items), *limits, END) == reason


pieces = st.one_of(
    st.builds(lambda i: {"image": f"u{i}"}, st.integers(0, 3)),
    st.lists(st.sampled_from(["a", "", END, "share tweet", "the harbour was built"]), min_size=1).map("\n\n".join),
)


@given(st.lists(pieces))
def test_finishing_a_document_again_changes_nothing(items: list[Any]) -> None:
    document = as_document(items)
    finish(document, CONFIG, paragraph_score)
    first = shown(document)
    again = as_document(first)
    finish(again, CONFIG, paragraph_score)
    images = [x["image"] for x in first if isinstance(x, dict)]
    assert len(set(images)) == len(images)
    if not (first and isinstance(first[-1], str) and first[-1].endswith(END)):
        assert shown(again) == first
