from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from obelics_pipeline.core.document import ImageNode
from obelics_pipeline.models.pictures.sources import FolderImages, StoredImages, no_images
from obelics_pipeline.stages.fetch.image_store import ImageStore


def image(src: str = "https://a.example/i.png", sha256: str | None = None) -> ImageNode:
    return ImageNode(src, src, sha256=sha256)


def test_images_come_from_the_store_of_a_run(tmp_path: Path) -> None:
    store = ImageStore(tmp_path)
    source = StoredImages(store.read)
    assert source(image(sha256=store.put(b"bytes"))) == b"bytes"
    assert source(image(sha256="0" * 64)) is None
    assert source(image()) is None


@pytest.mark.parametrize("sha256", ["../../etc/passwd", ""])
def test_a_hash_that_is_none_is_no_path(tmp_path: Path, sha256: str) -> None:
    assert StoredImages(ImageStore(tmp_path).read)(image(sha256=sha256)) is None


def test_a_damaged_image_is_as_good_as_none(tmp_path: Path) -> None:
    store = ImageStore(tmp_path)
    sha256 = store.put(b"bytes")
    path = store.path(sha256)
    assert isinstance(path, Path)
    path.write_bytes(b"others")
    assert StoredImages(store.read)(image(sha256=sha256)) is None


def test_images_come_from_a_folder_by_the_hash_of_their_url(tmp_path: Path) -> None:
    (tmp_path / hashlib.sha256(b"https://a.example/i.png").hexdigest()).write_bytes(b"bytes")
    assert FolderImages(tmp_path)(image()) == b"bytes"
    assert FolderImages(tmp_path)(image("https://a.example/other.png")) is None
    assert FolderImages(tmp_path)(image("https://a.example/\ud800")) is None


def test_images_may_be_left_out() -> None:
    assert no_images(image()) is None
