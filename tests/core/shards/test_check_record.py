import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.document import TextNode
from obelics_pipeline.core.shards.check_record import KEYS, NotJson, parse_json, record_problems
from obelics_pipeline.core.shards.index import index_row
from obelics_pipeline.core.shards.manifest import promises_of
from obelics_pipeline.core.shards.record import make_record
from obelics_pipeline.core.shards.tar import Placed
from tests.stages.shard.runs import SCORES, document, drawn_nodes, image

PROMISES = promises_of(RunConfig(), SCORES)
ITEM = document(4, [image(1, "png"), TextNode("a"), image(2)])


def parts(item: Any = ITEM) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    record = make_record(item, SCORES)
    row = index_row("s.tar", Placed(0, 512), item, record, SCORES)
    return json.loads(record.json), row, [file.name for file in record.files]


def found(value: Any, row: Any, members: Any, promises: Any = PROMISES) -> list[str]:
    return list(record_problems(value, row, members, promises))


@given(st.integers(0, 10_000))
def test_what_make_record_writes_is_without_a_problem(number: int) -> None:
    assert found(*parts(document(number, drawn_nodes(number)))) == []


def about(change: dict[str, Any], at: int = 0) -> str:
    metadata = parse_json(parts()[0]["metadata"])
    metadata[at] = metadata[at] | change if isinstance(metadata[at], dict) else change
    return json.dumps(metadata)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"doc_id": "f" * 32}, "doc_id is"),
        ({"language": "de"}, "language is 'de', in the index 'en'"),
        ({"texts": [None, "a"]}, "differ in length: 2, 3, 3, 3"),
        ({"texts": ["b", "a", None]}, "position 0: exactly one of text and image"),
        ({"texts": [None, None, None]}, "position 1: exactly one of text and image"),
        ({"texts": [None, "", None]}, "position 1: an empty text"),
        ({"texts": [None, 7, None]}, "must be lists of strings and nulls"),
        ({"texts": "a"}, "must be lists of strings and nulls"),
        ({"images": ["http://other.example/", None, "http://pictures.example/2.jpeg"]}, "position 0: metadata.src is"),
        ({"images": ["http://pictures.example/2.jpeg", None, "http://pictures.example/2.jpeg"]}, "an image URL twice"),
        ({"metadata": "[null,null,null]"}, "position 0: an image without metadata"),
        ({"metadata": "{}"}, "metadata is not the JSON of a list"),
        ({"metadata": "["}, "metadata is not the JSON of a list"),
        ({"metadata": []}, "metadata is not the JSON of a list"),
        ({"metadata": about({"a": 1}, 1)}, "position 1: a text with metadata or a file"),
        ({"metadata": about({"src": "x"})}, "position 0: metadata.src is 'x'"),
        ({"metadata": about({"format": "webp"})}, "its file must be named 000.webp"),
        ({"metadata": about({"format": None})}, "its file must be named 000.<format>"),
        ({"metadata": about({"format": 7})}, "its file must be named 000.<format>"),
        ({"files": [None, None, "002.jpg"]}, "position 0: an image without a file"),
        ({"files": ["000.png", "001.png", "002.jpg"]}, "position 1: a text with metadata or a file"),
        ({"files": ["../x.png", None, "002.jpg"]}, "its file must be named 000.png"),
        ({"general_metadata": "7"}, "general_metadata is not the JSON of an object"),
        ({"general_metadata": '{"url": "x"}'}, "general_metadata.url is 'x'"),
        ({"general_metadata": '{"page_type": "forum"}'}, "page_type is 'forum', in the index None"),
        ({"scores": {}}, "scores must be word_count, perplexity"),
        ({"scores": {"perplexity": 1.0, "word_count": 1.0}}, "scores must be word_count, perplexity"),
        ({"scores": {"word_count": 5.0, "perplexity": 4.1}}, "score word_count is 5.0, in the index 4.0"),
        ({"scores": {"word_count": 4.0, "perplexity": None}}, "score perplexity is None"),
        ({"more": 1}, "must have the keys"),
    ],
)
def test_every_departure_is_found_and_named(change: dict[str, Any], said: str) -> None:
    value, row, members = parts()
    assert any(said in problem for problem in found(value | change, row, members)), found(value | change, row, members)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"n_texts": 2}, "number of texts is 1, in the index 2"),
        ({"n_images": 3}, "number of images is 2"),
        ({"n_files": 0}, "number of files is 2"),
        ({"url": "x"}, "general_metadata.url"),
        ({"page_type": "article"}, "general_metadata.page_type is None, in the index 'article'"),
        ({"warc_record_offset": 9}, "general_metadata.warc_record_offset is 4, in the index 9"),
    ],
)
def test_a_row_of_the_index_that_differs_is_named(change: dict[str, Any], said: str) -> None:
    value, row, members = parts()
    assert any(said in problem for problem in found(value, row | change, members))


def test_an_index_without_the_kind_of_page_says_nothing_against_a_record_that_has_it() -> None:
    value, row, members = parts(document(1))
    assert row.pop("page_type") == "forum"
    assert found(value, row, members) == []


def test_members_that_the_record_does_not_name_or_names_in_another_order_are_found() -> None:
    value, row, members = parts()
    for other in ([*members, "003.jpg"], members[:1], members[::-1]):
        assert any("files names" in problem for problem in found(value, row, other))


def test_a_document_has_text_and_as_many_images_as_promised() -> None:
    only_image = document(0, [image(1)])
    assert "no text" in found(*parts(only_image))
    only_text = document(0, [TextNode("a")])
    assert found(*parts(only_text)) == ["0 images, promised are 1 to 30"]
    free = promises_of(RunConfig.model_validate({"images": {"min_per_document": 0}}), SCORES)
    assert found(*parts(only_text), free) == []


def test_unfetched_images_and_repeats_are_in_order_where_the_config_promised_nothing_else() -> None:
    unfetched = promises_of(RunConfig.model_validate({"fetch": {"enabled": False}}), SCORES)
    item = document(0, [TextNode("a"), image(1, sha256=None, n_bytes=None)])
    assert found(*parts(item)) == ["position 1: an image without a file"]
    assert found(*parts(item), unfetched) == []
    repeating = promises_of(RunConfig.model_validate({"finish": {"drop_repeated_images": False}}), SCORES)
    item = document(0, [TextNode("a"), image(1), image(1)])
    assert found(*parts(item)) == ["an image URL twice"]
    assert found(*parts(item), repeating) == []


def test_two_texts_in_a_row_are_found() -> None:
    value, row, members = parts(document(0, [TextNode("a"), image(1)]))
    metadata = json.dumps([None, *parse_json(value["metadata"])])
    doubled = value | {"texts": ["x", *value["texts"]], "images": [None, *value["images"]], "metadata": metadata}
    doubled["files"] = [None, *value["files"]]
    assert any("two texts in a row" in problem for problem in found(doubled, row, members))


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b'{"a": NaN}', b"[Infinity]", b"[" * 200_000])
def test_what_is_no_json_is_told(data: bytes) -> None:
    with pytest.raises(NotJson):
        parse_json(data)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["src", "format", "url"]), inner),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(KEYS), anything), st.sampled_from([json.dumps, lambda x: x]))
def test_no_value_makes_the_check_itself_fail(change: dict[str, Any], shape: Any) -> None:
    value, row, members = parts()
    for key in change:
        value[key] = shape(change[key]) if "metadata" in key else change[key]
    assert all(isinstance(problem, str) and "\n" not in problem for problem in found(value, row, members))
