import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.document import Node, TextNode, interleave
from obelics_pipeline.core.shards.check_record import KEYS
from obelics_pipeline.core.shards.record import content_sha256, extension, make_record, record_size
from tests.stages.shard.runs import SCORES, document, image


def test_a_record_holds_the_interleaving_its_provenance_and_its_files_in_place() -> None:
    item = document(1, [image(1, "png"), TextNode("a"), TextNode("b"), image(2), image(3, "webp"), TextNode("c")])
    record = make_record(item, SCORES)
    value = json.loads(record.json)
    assert tuple(value) == KEYS
    assert value["texts"] == [None, "a\n\nb", None, None, "c"]
    assert value["files"] == ["000.png", None, "002.jpg", "003.webp", None]
    assert [file.name for file in record.files] == ["000.png", "002.jpg", "003.webp"]
    assert json.loads(value["metadata"]) == interleave(item.nodes, item.url).metadata
    assert json.loads(value["general_metadata"])["warc_record_offset"] == 1
    assert (record.n_texts, record.n_images) == (2, 3)


def test_every_record_has_the_run_s_scores_and_null_where_there_is_no_number() -> None:
    item = document(0)
    item.scores = {"word_count": float("nan"), "of_another_config": 1.0}
    value = json.loads(make_record(item, SCORES).json)
    assert value["scores"] == {"word_count": None, "perplexity": None}


def test_an_image_that_was_not_fetched_has_no_file() -> None:
    item = document(0, [TextNode("a"), image(1, sha256=None, n_bytes=None)])
    record = make_record(item, SCORES)
    assert json.loads(record.json)["files"] == [None, None]
    assert record.files == ()
    assert record.n_images == 1


@pytest.mark.parametrize("doc_id", ["a.b", "", "a/b", "../a", "a b", "é", "a" * 65])
def test_an_id_that_is_no_webdataset_key_is_refused(doc_id: str) -> None:
    item = document(0)
    item.doc_id = doc_id
    with pytest.raises(ValueError, match="must match"):
        make_record(item, SCORES)


@pytest.mark.parametrize("format_", [None, "", "svg+xml", "a.b", "../x", "JPEG"])
def test_a_format_that_makes_no_file_name_is_refused(format_: str | None) -> None:
    with pytest.raises(ValueError, match="no file extension"):
        extension(format_)


def test_jpeg_is_called_jpg() -> None:
    assert [extension(name) for name in ("jpeg", "png", "webp", "gif")] == ["jpg", "png", "webp", "gif"]


def test_the_content_hash_is_what_sha256sum_would_print_hashed() -> None:
    record = make_record(document(2, [TextNode("a"), image(5)]), SCORES)
    lines = f"{hashlib.sha256(record.json).hexdigest()}  {record.doc_id}.json\n"
    lines += f"{record.files[0].sha256}  {record.doc_id}.001.jpg\n"
    assert record.content_sha256 == hashlib.sha256(lines.encode()).hexdigest()


def test_the_content_hash_depends_on_names_bytes_and_order() -> None:
    hashes = {content_sha256(x) for x in ([("a", "1")], [("b", "1")], [("a", "2")], [("a", "1"), ("b", "1")])}
    assert len(hashes) == 4
    assert content_sha256([("a", "1"), ("b", "1")]) != content_sha256([("b", "1"), ("a", "1")])


@pytest.mark.parametrize(("size", "taken"), [(0, 512), (1, 1024), (512, 1024), (513, 1536)])
def test_a_member_takes_a_header_and_whole_blocks(size: int, taken: int) -> None:
    assert record_size([size]) == taken


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), st.sampled_from(["en", None]))
def test_any_text_survives_in_the_record(text: str, language: str | None) -> None:
    item = document(0, [TextNode(text), image(0, alt_text=text)])
    item.language = language
    value = json.loads(make_record(item, SCORES).json)
    assert value["texts"][0] == text
    assert json.loads(value["metadata"])[1]["alt_text"] == text
    assert value["language"] == language


def test_a_caption_behind_an_image_stands_in_its_metadata_too() -> None:
    caption, gone = TextNode("The boat.", role="caption"), TextNode("x", reason="rule")
    nodes: list[Node] = [caption, image(1), gone, TextNode(""), TextNode("Here.", role="caption"), image(2)]
    nodes += [TextNode("Words."), image(3), image(4), TextNode("Both.", role="caption"), TextNode("More.")]
    value = json.loads(make_record(document(1, nodes), []).json)
    about = [item for item in json.loads(value["metadata"]) if item is not None]
    assert [item.get("caption") for item in about] == ["Here.", None, None, "Both."]
    assert value["texts"][-1] == "Both.\n\nMore."
