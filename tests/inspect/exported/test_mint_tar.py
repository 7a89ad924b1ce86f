"""Tars in MINT-1T's layout name each picture, and NeMo Curator's reader of such tars finds it."""

import tarfile
from pathlib import Path

import pytest

from obelics_pipeline.core.shards.source import all_documents
from obelics_pipeline.inspect.exported.command import export_files
from obelics_pipeline.inspect.exported.mint_tar import MINT, count_mint_tar, mint_record
from tests.inspect.exported.documents import Found, of_shards


@pytest.fixture(scope="module")
def tars(small_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mint") / "out"
    assert len(export_files(small_run, folder, MINT, shards=2, workers=1).files) == 2
    return folder


def test_texts_and_names_of_pictures_have_one_length_and_exactly_one_at_each_position(small_run: Path) -> None:
    for document in all_documents(small_run):
        record = mint_record(document)
        assert len(record["texts"]) == len(record["images"])
        missing = [entry["position"] for entry in record["not_fetched"]]
        for position, (text, name) in enumerate(zip(record["texts"], record["images"], strict=True)):
            assert (text is None) + (name is None) == 1 + (position in missing)
        assert len(record["image_metadata"]) == sum(name is not None for name in record["images"])


def test_webdataset_reads_them(small_run: Path, tars: Path) -> None:
    import webdataset

    urls = [str(path) for path in sorted(tars.glob("*.tar"))]
    documents = []
    for sample in webdataset.WebDataset(urls, shardshuffle=False, empty_check=False).decode(only="json"):
        record, key = sample["json"], sample["__key__"]
        pictures = [name and sample[name.removeprefix(f"{key}.")] for name in record["images"]]
        documents.append(Found(record["sample_id"], record["texts"], pictures))
    assert documents == of_shards(small_run)


def test_curator_reads_them(small_run: Path, tars: Path) -> None:
    stages = pytest.importorskip("nemo_curator.stages.interleaved.io.readers.webdataset")
    tasks = pytest.importorskip("nemo_curator.tasks")
    files = [str(path) for path in sorted(tars.glob("*.tar"))]
    reader = stages.InterleavedWebdatasetReaderStage(materialize_on_read=True, sample_id_field="sample_id")
    batch = reader.process(tasks.FileGroupTask(dataset_name="x", data=files))
    rows = batch.to_pyarrow().select(["sample_id", "position", "text_content", "binary_content"]).to_pylist()
    found = {
        (row["sample_id"], row["position"]): (row["text_content"], row["binary_content"])
        for row in rows
        if row["position"] >= 0
    }
    expected = {
        (document.doc_id, position): pair
        for document in of_shards(small_run)
        for position, pair in enumerate(zip(document.texts, document.pictures, strict=True))
        if pair != (None, None)
    }
    assert found == expected


def test_a_tar_without_a_picture_that_a_document_names_is_not_counted(tars: Path, tmp_path: Path) -> None:
    path = next(tars.glob("*.tar"))
    assert count_mint_tar(path) > 0
    with tarfile.open(path) as whole, tarfile.open(tmp_path / "x.tar", "w") as part:
        members = whole.getmembers()
        skipped = next(member for member in members if not member.name.endswith(".json"))
        for member in members:
            if member is not skipped:
                part.addfile(member, whole.extractfile(member))
    with pytest.raises(ValueError, match=r"another picture should|ends before"):
        count_mint_tar(tmp_path / "x.tar")
