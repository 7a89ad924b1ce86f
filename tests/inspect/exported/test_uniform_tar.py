"""Uniform tars open by `load_dataset("webdataset")` without features, and by webdataset."""

from pathlib import Path
from typing import Any

import pytest

from obelics_pipeline.inspect.exported.command import export_files
from obelics_pipeline.inspect.exported.flat_document import pictures_of
from obelics_pipeline.inspect.exported.uniform_tar import WEBDATASET, count_uniform_tar
from tests.inspect.exported.documents import Found, of_shards


@pytest.fixture(scope="module")
def tars(small_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("webdataset") / "out"
    assert len(export_files(small_run, folder, WEBDATASET, shards=3, workers=1).files) == 3
    return folder


def found(record: dict[str, Any], pictures: bytes) -> Found:
    return Found(record["doc_id"], [text or None for text in record["texts"]], pictures_of(record, pictures))


def test_datasets_opens_them_without_features(small_run: Path, tars: Path, tmp_path: Path) -> None:
    import datasets

    files = f"{tars}/*.tar"
    rows = datasets.load_dataset("webdataset", data_files=files, split="train", cache_dir=str(tmp_path))
    assert [found(row["json"], row["bin"]) for row in rows] == of_shards(small_run)


def test_datasets_streams_them_without_features(small_run: Path, tars: Path, tmp_path: Path) -> None:
    import datasets

    files = f"{tars}/*.tar"
    rows = datasets.load_dataset("webdataset", data_files=files, split="train", streaming=True, cache_dir=str(tmp_path))
    assert [found(row["json"], row["bin"]) for row in rows] == of_shards(small_run)


def test_webdataset_reads_and_decodes_them(small_run: Path, tars: Path) -> None:
    import webdataset

    urls = [str(path) for path in sorted(tars.glob("*.tar"))]
    samples = webdataset.WebDataset(urls, shardshuffle=False, empty_check=False).decode()
    assert [found(sample["json"], sample["bin"]) for sample in samples] == of_shards(small_run)


def test_no_value_is_null_so_that_the_first_documents_do_not_make_a_column_null_for_all(tars: Path) -> None:
    import webdataset

    urls = [str(path) for path in sorted(tars.glob("*.tar"))]
    for sample in webdataset.WebDataset(urls, shardshuffle=False, empty_check=False).decode():
        record = sample["json"]
        assert None not in [*record.values(), *record["texts"], *record["image_urls"], *record["picture_bytes"]]


def test_a_cut_tar_is_not_counted(tars: Path, tmp_path: Path) -> None:
    whole = next(tars.glob("*.tar")).read_bytes()
    assert count_uniform_tar(next(tars.glob("*.tar"))) > 0
    (tmp_path / "cut.tar").write_bytes(whole[: whole.rindex(b".bin\0")])
    with pytest.raises((ValueError, OSError)):
        count_uniform_tar(tmp_path / "cut.tar")
