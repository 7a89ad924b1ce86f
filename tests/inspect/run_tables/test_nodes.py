"""Run tables of paragraphs and images have a row for every node, with what its document says of it."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pyarrow as pa
import pytest

from obelics_pipeline.core.document import IMAGE_MEASURES, Document, ImageNode, TextNode
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.shards.manifest import read_manifest
from obelics_pipeline.core.tables import DocumentWriter, read_documents
from obelics_pipeline.inspect.run_tables.documents import document_table
from obelics_pipeline.inspect.run_tables.images import FIELDS, hosts, image_tables
from obelics_pipeline.inspect.run_tables.nodes import texts_of_nodes
from obelics_pipeline.inspect.run_tables.paragraphs import paragraph_scores, paragraph_tables


@pytest.fixture(scope="module")
def folder(run_of_demo: Path) -> RunFolder:
    return RunFolder(run_of_demo)


@pytest.fixture(scope="module")
def documents(folder: RunFolder) -> pa.Table:
    return document_table(folder)


def with_rows(folder: RunFolder, documents: pa.Table) -> Iterator[tuple[int, Document]]:
    """Each document with its row in a run table."""
    files = {file: list(read_documents(folder.path / file)) for file in set(documents["file"].to_pylist())}
    for i, row in enumerate(documents.select(["file", "row"]).to_pylist()):
        yield i, files[row["file"]][row["row"]]


def joined(tables: Iterator[pa.Table]) -> list[dict[str, object]]:
    rows = pa.concat_tables(tables, promote_options="default").to_pylist()
    return sorted(rows, key=lambda row: (row["document"], row["node"]))


def test_paragraphs_are_those_of_the_documents(folder: RunFolder, documents: pa.Table) -> None:
    expected = [
        {
            "document": i,
            "node": place,
            "role": node.role,
            "reason": node.reason,
            "duplicate_of": node.duplicate_of,
            "bytes": len(node.text.encode()),
            **node.scores,
        }
        for i, document in with_rows(folder, documents)
        for place, node in enumerate(document.nodes)
        if isinstance(node, TextNode)
    ]
    found = joined(paragraph_tables(folder, documents))
    always = {"document", "node", "role", "reason", "duplicate_of", "bytes"}
    assert [{k: v for k, v in row.items() if k in always or v is not None} for row in found] == expected
    assert {row["reason"] for row in expected} >= {None, "special_character_ratio", "repeated_paragraph"}


def test_images_are_those_of_the_documents(folder: RunFolder, documents: pa.Table) -> None:
    expected = [
        {
            "document": i,
            "node": place,
            **{name: getattr(node, name) for name in ("role", "reason", "failed", "duplicate_of", "format", "n_bytes")},
            "host": urlsplit(node.src).hostname or "",
            "width": node.original_width,
            "height": node.original_height,
            "similarity": node.similarity,
            "unsafe": node.unsafe,
            **{name: node.scores.get(name) for name in IMAGE_MEASURES},
        }
        for i, document in with_rows(folder, documents)
        for place, node in enumerate(document.nodes)
        if isinstance(node, ImageNode)
    ]
    found = joined(image_tables(folder, documents))
    assert found == [{name: row[name] for name in FIELDS.names} for row in expected]
    kept = documents["reason"].is_null().to_pylist()
    in_shards = sum(row["reason"] is None and kept[int(str(row["document"]))] for row in found)
    assert in_shards == read_manifest(folder.path).counts()["images"]


def test_what_is_measured_of_pixels_is_of_images_and_not_of_paragraphs(tmp_path: Path) -> None:
    (tmp_path / "assembled").mkdir()
    nodes = [TextNode("words", scores={"word_count": 1.0}), ImageNode("http://a/", "/", scores={"sharpness": 7.0})]
    with DocumentWriter(tmp_path / "assembled/a.parquet", [], ["word_count", "one_colour", "sharpness"]) as writer:
        writer.write(Document("d", "http://a/", "w", 0, 1, list(nodes)))
    documents = pa.table({"file": ["assembled/a.parquet"], "row": [0]})
    (image,) = joined(image_tables(RunFolder(tmp_path), documents))
    assert (image["sharpness"], image["one_colour"], image["text_share"]) == (7.0, None, None)
    assert paragraph_scores(next(paragraph_tables(RunFolder(tmp_path), documents))) == ["word_count"]
    (again,) = read_documents(tmp_path / "assembled/a.parquet")
    assert [node.scores for node in again.nodes if isinstance(node, ImageNode)] == [{"sharpness": 7.0}]


def test_what_models_measured_of_images_is_a_column_where_it_is_there(tmp_path: Path) -> None:
    (tmp_path / "scored").mkdir()
    names = ["word_count", "picture_watermark"]
    nodes = [TextNode("words", scores={"word_count": 1.0}), ImageNode("http://a/", "/", scores={names[1]: 0.5})]
    with DocumentWriter(tmp_path / "scored/a.parquet", [], names) as writer:
        writer.write(Document("d", "http://a/", "w", 0, 1, list(nodes)))
    documents = pa.table({"file": ["scored/a.parquet"], "row": [0]})
    (image,) = joined(image_tables(RunFolder(tmp_path), documents))
    assert image["picture_watermark"] == 0.5 and "word_count" not in image
    assert paragraph_scores(next(paragraph_tables(RunFolder(tmp_path), documents))) == ["word_count"]


def test_rows_are_those_of_the_table_that_is_asked_for(folder: RunFolder, documents: pa.Table) -> None:
    some = documents.take(pa.array([40, 3, 17]))
    whole = joined(paragraph_tables(folder, documents))
    parts = joined(paragraph_tables(folder, some))
    at = {40: 0, 3: 1, 17: 2}
    wanted = [row | {"document": at[int(str(row["document"]))]} for row in whole if row["document"] in at]
    assert parts == sorted(wanted, key=lambda row: (row["document"], row["node"]))
    assert parts
    assert joined(iter([*image_tables(folder, documents.slice(0, 0)), FIELDS.empty_table()])) == []


def test_texts_are_read_by_their_place(folder: RunFolder, documents: pa.Table) -> None:
    of_some = [
        ((i, place), node.text)
        for i, document in with_rows(folder, documents)
        for place, node in enumerate(document.nodes)
        if isinstance(node, TextNode) and i % 7 == 0
    ]
    assert texts_of_nodes(folder, documents, [place for place, _ in of_some]) == dict(of_some)


def test_scores_of_paragraphs_have_the_names_of_their_filters(folder: RunFolder, documents: pa.Table) -> None:
    table = next(paragraph_tables(folder, documents))
    assert {"word_count", "punctuation_ratio"} <= set(paragraph_scores(table))


def test_hosts_are_without_user_port_and_case() -> None:
    urls = [
        "http://A.Example/x",
        "https://u:p@b.example:8/y?h=http://c/",
        "//no.scheme/",
        "data:,x",
        "http://[::1]:80/z",
    ]
    assert hosts(pa.chunked_array([urls])).to_pylist() == ["a.example", "b.example", "", "", "[::1]"]
    assert hosts(pa.chunked_array([[None]], pa.string())).to_pylist() == [""]
