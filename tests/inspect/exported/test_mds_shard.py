"""MDS shards are those of MosaicML's own writer, byte by byte, and its StreamingDataset reads them."""

from pathlib import Path
from typing import Any

import pytest

from obelics_pipeline.core.storage import file_sha256
from obelics_pipeline.inspect.exported.command import export_files
from obelics_pipeline.inspect.exported.flat_document import pictures_of
from obelics_pipeline.inspect.exported.mds_shard import ENCODINGS, MDS, count_mds
from tests.inspect.exported.documents import Found, of_shards


@pytest.fixture(scope="module")
def shards(small_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mds") / "out"
    assert [file.documents for file in export_files(small_run, folder, MDS, shards=3, workers=1).files] == [5, 4, 3]
    return folder


@pytest.mark.parametrize("change", [lambda data: data[:-1], lambda data: data + b"x", lambda data: data[:30]])
def test_a_shard_that_is_cut_or_longer_is_not_counted(shards: Path, tmp_path: Path, change: Any) -> None:
    assert count_mds(shards / "shard.00001.mds") == 4
    (tmp_path / "x.mds").write_bytes(change((shards / "shard.00001.mds").read_bytes()))
    with pytest.raises(ValueError, match=r"it ends within its numbers|should end at byte|line 1 column"):
        count_mds(tmp_path / "x.mds")


def streaming_package() -> Any:
    """MosaicML's package, which wants torch, and a torchvision that imports beside it."""
    pytest.importorskip("torch")
    from obelics_pipeline.models.device.torchvision_import import mend_torchvision

    mend_torchvision()
    return pytest.importorskip("streaming")


def test_streaming_dataset_reads_them(small_run: Path, shards: Path) -> None:
    streaming = streaming_package()
    streaming.base.util.clean_stale_shared_memory()
    rows = streaming.StreamingDataset(local=str(shards), shuffle=False, batch_size=1, validate_hash="sha256")
    found = [
        Found(row["doc_id"], [text or None for text in row["texts"]], pictures_of(row, row["pictures"])) for row in rows
    ]
    assert found == of_shards(small_run)


def test_its_own_writer_makes_the_same_bytes(shards: Path, tmp_path: Path) -> None:
    streaming = streaming_package()
    own = streaming.LocalDataset(str(shards))
    with streaming.MDSWriter(
        out=str(tmp_path / "out"), columns=ENCODINGS, hashes=["sha256"], size_limit=None
    ) as writer:
        for i in range(5):
            writer.write(own[i])
    assert file_sha256(tmp_path / "out/shard.00000.mds") == file_sha256(shards / "shard.00000.mds")
