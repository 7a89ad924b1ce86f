from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from obelics_pipeline.core.document import Document, ImageNode, TextNode
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.shards.record import make_record
from obelics_pipeline.core.shards.tar import ShardWriter
from obelics_pipeline.fit.flamingo.documents import WithImages, document_of, document_sources
from obelics_pipeline.models.pictures.sources import FolderImages, no_images

A, B = "http://a.example/a.png", "http://a.example/b.png"
ROW = {"texts": ["before", None, "after", None], "images": [None, A, None, B]}
SHOWN = ["before", A, "after", B]


def shown(document: Document | str) -> list[str]:
    assert isinstance(document, Document)
    return [node.text if isinstance(node, TextNode) else node.src for node in document.nodes]


def read(path: Path, images: Any = no_images) -> tuple[list[WithImages], str]:
    (source,) = document_sources([str(path)], images)
    return list(source.documents()), str(source)


@pytest.fixture
def images(tmp_path: Path) -> FolderImages:
    """A folder in which there is the first of the two images."""
    folder = tmp_path / "images"
    folder.mkdir()
    (folder / hashlib.sha256(A.encode()).hexdigest()).write_bytes(b"a picture")
    return FolderImages(folder)


def test_lines_with_the_published_columns_have_their_images(tmp_path: Path, images: FolderImages) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(ROW) + "\n" + json.dumps({"id": 7, "text": "only text"}) + "\n")
    (first, second), _ = read(path, images)
    assert shown(first.document) == SHOWN and first.files == {A: b"a picture"}
    assert shown(second.document) == ["only text"] and second.document.doc_id == "7" and second.files == {}


def test_parquet_with_the_published_columns(tmp_path: Path, images: FolderImages) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"images": [ROW["images"]], "metadata": ["[]"], "texts": [ROW["texts"]]}), path)
    (found,), _ = read(path, images)
    assert shown(found.document) == SHOWN and found.files == {A: b"a picture"}


@pytest.mark.parametrize(
    ("row", "wrong"),
    [
        ({}, "without text"),
        ({"text": None}, "without text"),
        ({"text": " "}, "with empty text"),
        ({"texts": [None], "images": [A]}, "with empty text"),
        ({"texts": ["a"], "images": [None, None]}, "with texts and images of different length"),
        ({"texts": ["a"], "images": "b"}, "with texts and images of different length"),
        ({"texts": ["a"], "images": [A]}, "with neither a text nor an image at a place, or both"),
        ({"texts": [None, "a"], "images": [None, None]}, "with neither a text nor an image at a place, or both"),
        ({"texts": [3], "images": [None]}, "with neither a text nor an image at a place, or both"),
    ],
)
def test_a_row_that_is_no_document_is_skipped_and_told(tmp_path: Path, row: dict[str, Any], wrong: str) -> None:
    assert document_of(row) == wrong
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(row) + "\n" + json.dumps(ROW) + "\n")
    found, told = read(path)
    assert len(found) == 1 and told == f"a.jsonl: 1 texts; 1 rows skipped: 1 {wrong}"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A folder with a shard of one document, whose second image was not fetched."""
    shards = tmp_path / "run" / "shards"
    shards.mkdir(parents=True)
    content = b"the bytes of a picture"
    fetched = ImageNode(A, A, format="png", sha256=hashlib.sha256(content).hexdigest(), n_bytes=len(content))
    nodes = [TextNode("before"), fetched, TextNode("after"), ImageNode(B, B)]
    with ShardWriter(shards / "shard-000000.tar") as writer:
        writer.add(make_record(Document("d0", "http://a.example/", "a.warc.gz", 0, 1, nodes), []), lambda _: content)
    return tmp_path / "run"


def test_a_run_s_folder_gives_its_documents_with_the_images_of_the_shards(run: Path) -> None:
    (found,), told = read(run)
    assert shown(found.document) == SHOWN and found.files == {A: b"the bytes of a picture"}
    assert told == "run: 1 documents of its shards"


def test_a_damaged_shard_is_told_in_one_line(run: Path) -> None:
    shard = run / "shards" / "shard-000000.tar"
    content = shard.read_bytes()
    for damaged in (
        b"no tar at all" * 100,
        content.replace(b'"texts"', b'"t_xts"'),
        content.replace(b'{"doc', b'["doc'),
    ):
        shard.write_bytes(damaged)
        with pytest.raises(UserError, match=r"shard-000000\.tar: cannot be read \(.*obelics validate") as caught:
            read(run)
        assert "\n" not in str(caught.value)


def test_what_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no finished run"):
        document_sources([str(tmp_path)], no_images)
    with pytest.raises(UserError, match="there is no such file"):
        document_sources([str(tmp_path / "a.jsonl")], no_images)
