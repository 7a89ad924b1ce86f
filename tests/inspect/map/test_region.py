"""A region is the documents of a polygon, or of any ids; its rules are about what the run keeps."""

from pathlib import Path

import numpy as np

from obelics_pipeline.core.document import make_doc_id
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.inspect.map.projected import Label, Projected
from obelics_pipeline.inspect.map.region import describe, ids_inside, mask_of
from obelics_pipeline.inspect.map.stored import read_map, to_tables, write_map
from obelics_pipeline.inspect.run_tables.documents import document_table

from .planted import made_document, pa_ids, run_folder, topic_text


def made(tmp_path: Path) -> RunFolder:
    points = np.array([[0, 0], [1, 1], [np.nan, np.nan], [5, 5]], np.float32)
    label = Label(0, 0.0, 0.0, ("word",), 3)
    folder = RunFolder(tmp_path)
    cells = np.array([0, 0, -1, 0], np.int32)
    write_map(folder, to_tables(pa_ids("abcd"), Projected(points, cells, [label])), "digest")
    return folder


def test_a_polygon_takes_the_documents_in_it(tmp_path: Path) -> None:
    found = read_map(made(tmp_path))
    assert found is not None
    assert ids_inside(found, [(-1, -1), (2, -1), (2, 2), (-1, 2)]) == ["a", "b"]
    assert ids_inside(found, [(-9, -9), (9, -9), (9, 9), (-9, 9)]) == ["a", "b", "d"]
    assert [found.points[name].null_count for name in ("doc_id", "x", "y", "cell")] == [0, 1, 1, 1]
    assert found.labels.to_pylist() == [{"cell": 0, "x": 0.0, "y": 0.0, "words": ["word"], "documents": 3}]


def test_a_map_of_other_documents_is_none(tmp_path: Path) -> None:
    folder = made(tmp_path)
    found = read_map(folder, "digest")
    assert found is not None
    assert read_map(folder, "another") is None
    labels = tmp_path / "map/labels.parquet"
    of_one = labels.read_bytes()
    write_map(folder, found, "another")
    labels.write_bytes(of_one)
    assert read_map(folder) is None  # the two files are of two maps
    labels.unlink()
    assert read_map(folder) is None


def test_rules_are_about_documents_that_are_kept(tmp_path: Path) -> None:
    documents = [made_document(i, topic_text(0, i), float(i), "word_count" if i < 5 else None) for i in range(20)]
    rows = document_table(run_folder(tmp_path, [documents]))
    found = describe(rows, mask_of(rows, [make_doc_id("a.warc", i) for i in range(10)]))
    assert (found.documents, found.kept) == (10, 5)
    assert (found.rules[0].of_region, found.rules[0].of_rest) == (5, 10)
