import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.document import ImageNode, TextNode, general_metadata, interleave, to_json
from obelics_pipeline.jobs.score_rows import document_of_row as module
from obelics_pipeline.jobs.score_rows.document_of_row import document_of_row
from obelics_pipeline.stages.rows.row_error import RowError
from tests.jobs.score_rows.rows import TEXT, published


def test_a_published_row_is_the_document_that_it_was_made_of() -> None:
    row = published(3, role_of_somebody="kept elsewhere")
    document = document_of_row(row)
    again = interleave(document.nodes, document.url)
    assert (again.texts, again.images, to_json(again.metadata)) == (row["texts"], row["images"], row["metadata"])
    assert to_json(general_metadata(document)) == row["general_metadata"]


def test_a_row_with_text_alone_is_one_text() -> None:
    document = document_of_row({"id": "a", "text": TEXT, "url": "http://x.example"})
    assert document.nodes == [TextNode(TEXT)]
    assert (document.doc_id, document.url) == ("a", "http://x.example")


def test_metadata_may_be_json_or_what_json_stands_for_or_absent() -> None:
    row = published(1)
    parsed = row | {key: json.loads(row[key]) for key in ("metadata", "general_metadata")}
    bare = {key: row[key] for key in ("texts", "images")}
    assert document_of_row(parsed) == document_of_row(row)
    assert document_of_row(bare).images() == [ImageNode(row["images"][1], row["images"][1])]
    assert document_of_row({"texts": ["a"]}).nodes == [TextNode("a")]


@pytest.mark.parametrize(
    ("row", "reason", "detail"),
    [
        ({}, "no_text", "text is missing or null"),
        ({"text": None}, "no_text", "text is missing or null"),
        ({"text": 5}, "wrong_type", "text is a number, not a string"),
        ({"text": float("nan")}, "wrong_type", "text is a number, not a string"),
        ({"text": ["a"]}, "wrong_type", "text is a list, not a string"),
        ({"texts": None, "text": "not looked at"}, "no_text", "texts is null"),
        (published(1, texts="a"), "wrong_type", "texts is a string, not a list"),
        (published(1, texts=["a", None, True]), "wrong_type", "texts at place 2 is a boolean, not a string"),
        (published(1, images={}), "wrong_type", "images is an object, not a list"),
        (published(1, images=[None, "u"]), "lengths_differ", "texts 3, images 2, metadata 3"),
        (published(1, metadata="[]"), "lengths_differ", "texts 3, images 3, metadata 0"),
        (published(1, images=[None, None, None]), "not_aligned", "place 1 has neither text nor image"),
        (published(1, images=[None, "u", "u"]), "not_aligned", "place 2 has both"),
        (published(1, metadata="[null,"), "broken_metadata", "metadata: Expecting value: line 1 column 7 (char 6)"),
        (published(1, metadata="{}"), "wrong_type", "metadata is an object, not a list"),
        (published(1, metadata="[null,7,null]"), "wrong_type", "metadata at place 1 is a number, not an object"),
        (published(1, general_metadata="[1]"), "wrong_type", "general_metadata is a list, not an object"),
        (published(1, general_metadata="[" * 100_000), "broken_metadata", None),
    ],
)
def test_a_broken_row_says_what_is_wrong_with_it(row: dict[str, Any], reason: str, detail: str | None) -> None:
    with pytest.raises(RowError) as caught:
        document_of_row(row)
    assert caught.value.reason == reason
    if detail is not None:
        assert caught.value.detail == detail


def test_a_document_beyond_the_limit_is_not_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_LENGTH", 10)
    assert document_of_row({"texts": ["12345", None, "67890"], "images": [None, "u", None]}).text()
    with pytest.raises(RowError, match="too_long"):
        document_of_row({"texts": ["12345", None, "678901"], "images": [None, "u", None]})


def test_facts_of_images_that_are_neither_text_nor_whole_numbers_are_left_out() -> None:
    about = {"src": "u", "alt_text": ["x"], "rendered_width": "50%", "original_width": 3.5, "original_height": 4}
    (image,) = document_of_row({"texts": [None], "images": ["u"], "metadata": [about]}).images()
    assert (image.alt_text, image.rendered_width, image.original_width, image.original_height) == (None, "50%", None, 4)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(module.KEYS), _json))
def test_whatever_a_row_holds_it_is_a_document_or_a_reason(row: dict[str, Any]) -> None:
    try:
        document = document_of_row(row)
    except RowError:
        return
    assert all(isinstance(value, str) for value in (document.doc_id, document.url, document.text()))
