"""A finished run is read as it was written, only where the manifest vouches for it, and damage is told in one line."""

import hashlib
import json
import pickle
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from obelics_pipeline.core.document import ImageNode, interleave
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.shards.source import documents
from obelics_pipeline.jobs.finished import Run
from tests.stages.shard.runs import add_look_ups, make_run, without_page_type
from tests.stages.shard.runs import document as written_document


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 12 documents in several shards; not to be changed."""
    folder = tmp_path_factory.mktemp("finished")
    make_run(folder, [written_document(number) for number in range(12)])
    return folder


@pytest.fixture
def copied(finished: Path, tmp_path: Path) -> Path:
    """A copy that a test may damage."""
    return Path(shutil.copytree(finished, tmp_path / "copy"))


def message(run: Run) -> str:
    with pytest.raises(UserError) as error:
        list(run.documents())
    assert "\n" not in str(error.value)
    return str(error.value)


def found_type(value: Mapping[str, Any]) -> str | None:
    kind: str | None = json.loads(value["general_metadata"]).get("page_type")
    return kind


def test_documents_are_those_of_the_shards_with_scores_and_images(finished: Path) -> None:
    run = Run(finished)
    read = list(run.documents())
    assert len(read) == len(run) == run.manifest.counts()["documents"]
    written = {found.record.doc_id: found.value for found in documents(finished)}
    for document in read:
        value = written[document.doc_id]
        assert interleave(document.nodes, document.url).texts == value["texts"]
        assert interleave(document.nodes, document.url).images == value["images"]
        assert document.scores == value["scores"]
        assert document.language == value["language"]
        assert document.page_type == found_type(value)
        assert document.warc_filename == "a.warc.gz"


@pytest.mark.parametrize("buckets", [1, 3])
def test_a_document_is_found_by_its_id_and_by_its_url(copied: Path, buckets: int) -> None:
    add_look_ups(copied, buckets)
    run = Run(copied)
    (copied / "index.parquet").unlink()  # it is not read
    for number in range(12):
        written = written_document(number)
        for which in (written.doc_id, written.url):
            read = run.document(which)
            assert read is not None
            assert (read.doc_id, read.url, read.scores) == (written.doc_id, written.url, written.scores)
    assert run.document("http://pages.example/none") is None
    assert run.document("0" * 32) is None


def test_without_a_look_up_the_index_is_read_and_a_warning_says_so(copied: Path) -> None:
    for which in (written_document(5).doc_id, written_document(5).url):
        with pytest.warns(UserWarning, match=f"^{copied}: has no look-up: its index is read whole$"):
            found = Run(copied).document(which)
        assert found == list(Run(copied).documents())[5]
    with pytest.warns(UserWarning, match="no look-up"):
        assert Run(copied).document("http://pages.example/none") is None


def test_images_come_with_the_bytes_that_their_nodes_name(finished: Path) -> None:
    images = list(Run(finished).images())
    assert len(images) == Run(finished).manifest.counts()["files"]
    for _, node, data in images:
        assert isinstance(node, ImageNode)
        assert (hashlib.sha256(data).hexdigest(), len(data)) == (node.sha256, node.n_bytes)


def test_the_table_has_a_row_per_document_and_the_scores(finished: Path) -> None:
    run = Run(str(finished))
    table = run.to_arrow()
    assert table.num_rows == len(run)
    assert set(run.manifest.promises.score_names) <= set(table.column_names)
    assert run.to_arrow(["url", "word_count"]).column_names == ["url", "word_count"]
    with pytest.raises(UserError, match="no column word_cuont; valid columns: shard, offset"):
        run.to_arrow(["word_cuont"])
    pytest.importorskip("pandas")
    assert list(run.to_pandas(["url"]).url) == table["url"].to_pylist()


def test_the_table_has_the_kind_of_each_page_and_null_where_a_version_before_did_not_write_it(copied: Path) -> None:
    run = Run(copied)
    kinds = [document.page_type for document in run.documents()]
    assert run.to_arrow(["page_type"]).to_pydict() == {"page_type": kinds}
    assert len(set(kinds)) > 3
    without_page_type(copied)
    assert Run(copied).to_arrow(["page_type"]).to_pydict() == {"page_type": [None] * 12}
    assert [document.page_type for document in Run(copied).documents()] == kinds


def test_the_dataset_gives_the_same_documents_by_number_also_in_another_process(finished: Path) -> None:
    run = Run(finished)
    dataset = pickle.loads(pickle.dumps(run.torch_dataset()))
    images = {(doc_id, node.src): data for doc_id, node, data in run.images()}
    for number, document in enumerate(run.documents()):
        element = dataset[number]
        shown = interleave(document.nodes, document.url)
        assert (element["doc_id"], element["texts"]) == (document.doc_id, shown.texts)
        assert element["images"] == [images.get((document.doc_id, src)) for src in shown.images]
        assert (element["language"], element["page_type"]) == (document.language, document.page_type)
        assert len(element["metadata"]) == len(element["texts"])
    with pytest.raises(IndexError):
        dataset[len(dataset)]


def test_a_loader_of_torch_takes_the_dataset(finished: Path) -> None:
    data = pytest.importorskip("torch.utils.data")
    run = Run(finished)
    loader = data.DataLoader(run.torch_dataset(), batch_size=8, shuffle=True, num_workers=2, collate_fn=list)
    assert sum(len(batch) for batch in loader) == len(run)


def test_only_what_the_manifest_names_is_needed(copied: Path, finished: Path) -> None:
    (copied / "shards" / "shard-000099.tar").write_bytes(b"somebody else's")
    assert [d.doc_id for d in Run(copied).documents()] == [d.doc_id for d in Run(finished).documents()]


def test_a_folder_that_is_no_finished_run_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no finished run here \(manifest.json is missing\)"):
        Run(tmp_path)


def test_an_index_that_the_manifest_does_not_name_is_refused(copied: Path) -> None:
    index = copied / "index.parquet"
    index.write_bytes(index.read_bytes() + b" ")
    assert f"{index}: is not what the manifest names; obelics validate {copied}" in message(Run(copied))
    for read in (Run(copied).images, Run(copied).to_arrow, Run(copied).torch_dataset):
        with pytest.raises(UserError, match="is not what the manifest names"):
            list(read())  # type: ignore[call-overload]


def test_a_damaged_shard_is_named(copied: Path) -> None:
    shard = min((copied / "shards").glob("*.tar"))
    row = Run(copied).to_arrow(["offset", "length"]).to_pylist()[0]
    data = bytearray(shard.read_bytes())
    data[row["offset"] + 600] ^= 1
    shard.write_bytes(data)
    assert str(shard) in message(Run(copied))
    with pytest.raises(UserError, match="cannot be read"):
        Run(copied).torch_dataset()[0]
    shard.unlink()
    assert f"{shard}: cannot be read" in message(Run(copied))


def test_a_run_in_an_object_store_is_read(copied: Path, s3: str) -> None:
    from upath import UPath

    bucket = UPath("s3://finished")
    bucket.fs.mkdir("finished")
    for path in copied.rglob("*"):
        if path.is_file():
            (bucket / str(path.relative_to(copied))).write_bytes(path.read_bytes())
    run = Run("s3://finished")
    assert [d.doc_id for d in run.documents()] == [d.doc_id for d in Run(copied).documents()]
    assert run.torch_dataset()[3] == Run(copied).torch_dataset()[3]
