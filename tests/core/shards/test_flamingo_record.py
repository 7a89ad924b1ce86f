"""The form that open_flamingo's trainer reads: every image before its text, in whatever order a document has them."""

import base64
import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obelics_pipeline.core.document import ImageNode, Node, TextNode
from obelics_pipeline.core.shards.check_record import NotJson
from obelics_pipeline.core.shards.flamingo_record import example_of, plain_members, shaped, take_apart, without_special
from obelics_pipeline.core.shards.record import Record, RecordFile, make_record
from obelics_pipeline.core.shards.tar import ShardWriter
from tests.stages.shard.open_flamingo_reader import Read, read
from tests.stages.shard.runs import SCORES, document, image, read_image


def stored(file: RecordFile) -> bytes:
    return read_image(file.sha256)


def member(record: Record) -> bytes:
    [(name, data)] = list(record.members(stored))
    assert name == "json"
    return data


def woven(order: str) -> tuple[list[Node], Read]:
    """Nodes in this order (t a text, i an image), and what a reader must see; neighbouring texts are one."""
    nodes: list[Node] = []
    seen: Read = []
    for number, kind in enumerate(order):
        if kind == "i":
            nodes.append(picture := image(number))
            assert picture.sha256 is not None
            seen.append(read_image(picture.sha256))
        else:
            nodes.append(TextNode(f"text {number}"))
            if seen and isinstance(seen[-1], str):
                seen[-1] += f"\n\ntext {number}"
            else:
                seen.append(f"text {number}")
    return nodes, seen


@pytest.mark.parametrize("order", ["it", "ti", "tit", "itit", "iit", "tii", "iii", "tiiti", "iitti", "titiiit"])
def test_each_image_stands_where_the_document_has_it(order: str) -> None:
    nodes, seen = woven(order)
    assert read(member(shaped(make_record(document(1, nodes), SCORES), "open_flamingo"))) == seen


@given(st.text("ti", min_size=1, max_size=14))
@settings(max_examples=60)
def test_whatever_the_order_the_trainer_reads_the_document(order: str) -> None:
    nodes, seen = woven(order)
    expected = seen if "i" in order else None
    assert read(member(shaped(make_record(document(1, nodes), SCORES), "open_flamingo")), max_images=14) == expected


def test_of_more_images_than_it_takes_the_trainer_keeps_the_first_in_their_places() -> None:
    nodes, seen = woven("tititititititit")
    found = read(member(shaped(make_record(document(1, nodes), SCORES), "open_flamingo")))
    assert found == seen[:11]  # five images and the text around them: it cuts before the sixth of its room


@given(st.integers(0, 10**6))
@settings(max_examples=20)
def test_the_size_is_known_before_it_is_written_and_the_hash_is_the_plain_records(
    tmp_path_factory: pytest.TempPathFactory, number: int
) -> None:
    plain = make_record(document(number), SCORES)
    record = shaped(plain, "open_flamingo")
    with ShardWriter(tmp_path_factory.mktemp("tar") / "a.tar") as tar:
        assert tar.add(record, read_image).length == record.size  # add() would raise
    assert record.content_sha256 == plain.content_sha256
    assert dict(plain_members({"json": member(record)})) == dict(plain.members(stored))


def test_which_texts_are_given_and_not_learned_is_kept() -> None:
    plain = make_record(document(1, [image(1), TextNode("a")]), SCORES)
    given = replace(plain, json=plain.json.removesuffix(b"}") + b',"given":[false,true]}')
    assert plain_members({"json": member(shaped(given, "open_flamingo"))})["json"] == given.json


def test_the_plain_form_is_left_as_it_is() -> None:
    record = make_record(document(3), SCORES)
    assert shaped(record, "webdataset") is record
    members = dict(record.members(stored))
    assert plain_members(members) is members
    alone = {"json": json.dumps({"texts": ["is_gpt", '"is_gpt":true']}).encode()}
    assert plain_members(alone) is alone


@pytest.mark.parametrize("mark", ["<image>", "<|endofchunk|>", "_!_IMAGE7_!_", "<PAD>", "<|endoftext|>", "</s>"])
def test_a_page_cannot_forge_a_mark(mark: str) -> None:
    nodes: list[Node] = [TextNode(f"before {mark} after"), image(1), TextNode(f"{mark[:2]}{mark}{mark[2:]}"), image(2)]
    record = shaped(make_record(document(1, nodes), SCORES), "open_flamingo")
    value = json.loads(member(record))
    assert mark not in value["example"]
    assert value["example"] == "before  after _!_IMAGE1_!_ _!_IMAGE2_!_"
    assert mark in value["texts"][0]  # the record itself keeps what the page says


@given(st.text("<image>_!IMAGE1</s|endofchunk", max_size=60))
def test_what_is_left_of_a_text_has_no_mark_and_nothing_else_is_taken(text: str) -> None:
    left = without_special(text)
    assert without_special(left) == left
    if "<" not in text and "_!_" not in text:
        assert left == text


def test_an_image_without_a_file_has_no_mark() -> None:
    unfetched = image(2, sha256=None, n_bytes=None, format=None)
    nodes: list[Node] = [TextNode("a"), unfetched, TextNode("b"), image(1), TextNode("c")]
    assert read(member(shaped(make_record(document(1, nodes), SCORES), "open_flamingo"))) == [
        "a b",
        read_image(str(image(1).sha256)),
        "c",
    ]


def test_example_of_lists_that_differ_in_length_is_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        example_of(["a"], [])


GOOD = json.loads(member(shaped(make_record(document(1, [image(1), TextNode("a")]), SCORES), "open_flamingo")))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"is_gpt": False}, "is_gpt must be true"),
        ({"example": None}, "example a string"),
        ({"more": 1}, "must have the keys"),
        ({"image_map": []}, "must have the keys _!_IMAGE1_!_"),
        ({"image_map": {"_!_IMAGE2_!_": {"base64_image": ""}}}, "in this order"),
        ({"image_map": {"_!_IMAGE1_!_": {"base64_image": 3}}}, "a string, and nothing else"),
        ({"image_map": {"_!_IMAGE1_!_": {"base64_image": "", "x": 1}}}, "nothing else"),
        ({"image_map": {"_!_IMAGE1_!_": {"base64_image": "?"}}}, "not base64"),
    ],
)
def test_what_is_not_the_form_is_told_in_one_line(change: dict[str, object], said: str) -> None:
    with pytest.raises(NotJson, match=said) as caught:
        take_apart(json.dumps(GOOD | change).encode())
    assert "\n" not in str(caught.value)


def test_images_and_their_names_must_be_as_many() -> None:
    data = json.dumps(GOOD | {"files": [None, None]}).encode()
    with pytest.raises(NotJson, match="files names 0 images, image_map holds 1"):
        plain_members({"json": data})


def test_the_images_are_the_bytes_that_were_fetched(tmp_path: Path) -> None:
    node = image(3, "webp")
    assert isinstance(node, ImageNode)
    value = json.loads(member(shaped(make_record(document(1, [node, TextNode("a")]), SCORES), "open_flamingo")))
    assert base64.b64decode(value["image_map"]["_!_IMAGE1_!_"]["base64_image"]) == read_image(str(node.sha256))
