"""Surveys of paragraphs and images have a row for every node, with what its document says of it."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pyarrow as pa
import pytest

from obelics_pipeline.document import Document, ImageNode, TextNode
from obelics_pipeline.folder import RunFolder
from obelics_pipeline.shard.manifest import read_manifest
from obelics_pipeline.survey.documents import survey_documents
from obelics_pipeline.survey.images import FIELDS, hosts, survey_images
from obelics_pipeline.survey.nodes import texts_of_nodes
from obelics_pipeline.survey.paragraphs import paragraph_scores, survey_paragraphs
from obelics_pipeline.tables import read_documents


@pytest.fixture(scope="module")
def folder(run_of_demo: Path) -> RunFolder:
    return RunFolder(run_of_demo)


@pytest.fixture(scope="module")
def documents(folder: RunFolder) -> pa.Table:
    return survey_documents(folder)


def with_rows(folder: RunFolder, documents: pa.Table) -> Iterator[tuple[int, Document]]:
    """Each document with its row in a survey."""
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
            "of": node.of,
            "bytes": len(node.text.encode()),
            **node.scores,
        }
        for i, document in with_rows(folder, documents)
        for place, node in enumerate(document.nodes)
        if isinstance(node, TextNode)
    ]
    found = joined(survey_paragraphs(folder, documents))
    always = {"document", "node", "role", "reason", "of", "bytes"}
    assert [{k: v for k, v in row.items() if k in always or v is not None} for row in found] == expected
    assert {row["reason"] for row in expected} >= {None, "word_count", "repeated_paragraph"}


def test_images_are_those_of_the_documents(folder: RunFolder, documents: pa.Table) -> None:
    expected = [
        {
            "document": i,
            "node": place,
            **{name: getattr(node, name) for name in ("role", "reason", "failed", "of", "format", "n_bytes")},
            "host": urlsplit(node.src).hostname or "",
            "width": node.original_width,
            "height": node.original_height,
            "similarity": node.similarity,
            "unsafe": node.unsafe,
        }
        for i, document in with_rows(folder, documents)
        for place, node in enumerate(document.nodes)
        if isinstance(node, ImageNode)
    ]
    found = joined(survey_images(folder, documents))
    assert found == [{name: row[name] for name in FIELDS.names} for row in expected]
    kept = documents["reason"].is_null().to_pylist()
    in_shards = sum(row["reason"] is None and kept[int(str(row["document"]))] for row in found)
    assert in_shards == read_manifest(folder.path).counts()["images"]


def test_rows_are_those_of_the_table_that_is_asked_for(folder: RunFolder, documents: pa.Table) -> None:
    some = documents.take(pa.array([40, 3, 17]))
    whole = joined(survey_paragraphs(folder, documents))
    parts = joined(survey_paragraphs(folder, some))
    at = {40: 0, 3: 1, 17: 2}
    wanted = [row | {"document": at[int(str(row["document"]))]} for row in whole if row["document"] in at]
    assert parts == sorted(wanted, key=lambda row: (row["document"], row["node"]))
    assert parts
    assert joined(iter([*survey_images(folder, documents.slice(0, 0)), FIELDS.empty_table()])) == []


def test_texts_are_read_by_their_place(folder: RunFolder, documents: pa.Table) -> None:
    of_some = [
        ((i, place), node.text)
        for i, document in with_rows(folder, documents)
        for place, node in enumerate(document.nodes)
        if isinstance(node, TextNode) and i % 7 == 0
    ]
    assert texts_of_nodes(folder, documents, [place for place, _ in of_some]) == dict(of_some)


def test_scores_of_paragraphs_have_the_names_of_their_filters(folder: RunFolder, documents: pa.Table) -> None:
    table = next(survey_paragraphs(folder, documents))
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
