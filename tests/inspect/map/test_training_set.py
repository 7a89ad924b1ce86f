"""Texts of a region and of the rest are what a classifier is fitted on, the same each time."""

from pathlib import Path

import numpy as np
import pytest

from obelics_pipeline.core.document import make_doc_id
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.fit.texts import text_files
from obelics_pipeline.inspect.map.region import mask_of
from obelics_pipeline.inspect.map.training_set import write_training_set
from obelics_pipeline.inspect.run_tables.documents import document_table

from .planted import made_document, run_folder, topic_text

TOPICS, EACH, JUNK = 5, 20, 4


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    documents = [made_document(i, topic_text(i % TOPICS, i)) for i in range(TOPICS * EACH)]
    path = tmp_path_factory.mktemp("run")
    run_folder(path, [documents[:30], [*documents[30:], made_document(999, "")]])
    return path


def test_a_training_set_is_what_fit_reads_and_the_same_each_time(folder: Path, tmp_path: Path) -> None:
    run = run_folder(folder, [])
    rows = document_table(run)
    junk = {make_doc_id("a.warc", i): i for i in range(TOPICS * EACH) if i % TOPICS == JUNK}
    assert write_training_set(run, rows, mask_of(rows, junk), tmp_path / "a") == (EACH, EACH)
    write_training_set(run, rows.take(list(reversed(range(len(rows))))), mask_of(rows, junk)[::-1], tmp_path / "b")
    for name in ("region.jsonl.gz", "rest.jsonl.gz"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    (region,) = text_files([str(tmp_path / "a/region.jsonl.gz")])
    (rest,) = text_files([str(tmp_path / "a/rest.jsonl.gz")])
    assert {found.text for found in region.texts()} == {topic_text(JUNK, i) for i in junk.values()}
    assert {found.text for found in rest.texts()}.isdisjoint({topic_text(JUNK, i) for i in junk.values()})
    assert all(found.source.endswith(".example") for found in region.texts())
    assert not region.skipped
    assert write_training_set(run, rows, mask_of(rows, junk), tmp_path / "c", rest=7) == (EACH, 7)


def test_a_region_of_nothing_or_everything_teaches_nothing(folder: Path, tmp_path: Path) -> None:
    run = run_folder(folder, [])
    rows = document_table(run)
    for value in (False, True):
        with pytest.raises(UserError, match="texts of two kinds"):
            write_training_set(run, rows, np.full(len(rows), value), tmp_path / "out")
    assert not (tmp_path / "out").exists()
