"""Images of a run are read from packs and from files of their own, ahead of the documents that show them."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from obelics_pipeline.core.document import Document, ImageNode
from obelics_pipeline.core.errors import Damaged
from obelics_pipeline.stages.fetch import run_images
from obelics_pipeline.stages.fetch.image_pack import PackWriter, pack_path
from obelics_pipeline.stages.fetch.image_store import ImageStore
from obelics_pipeline.stages.fetch.run_images import RunImages

CONTENTS = [bytes([n]) * (50 + n) for n in range(40)]


@pytest.fixture
def images(tmp_path: Path) -> list[ImageNode]:
    """Images in packs, and every fifth in a file of its own."""
    names = [hashlib.sha256(content).hexdigest() for content in CONTENTS]
    with PackWriter(tmp_path, "bucket-0000", 600) as writer:
        for n, content in enumerate(CONTENTS):
            if n % 5:
                writer.add(names[n], content)
            else:
                ImageStore(tmp_path).put(content)
    nodes = [ImageNode("u", "u", sha256=names[n], n_bytes=len(content)) for n, content in enumerate(CONTENTS)]
    for node in nodes:
        place = writer.places.get(str(node.sha256))
        if place is not None:
            node.pack, node.offset = place.pack, place.offset
    return nodes


def pages(images: list[ImageNode]) -> Iterator[Document]:
    for start in range(0, len(images), 3):
        missing = ImageNode("missing", "missing")
        yield Document(f"{start}", "http://a.example/", "w", 0, 0, [*images[start : start + 3], missing])


@pytest.mark.parametrize(("window", "most"), [(1, 256), (400, 256), (2**20, 256), (2**20, 2)])
def test_each_document_comes_in_its_turn_with_its_images(
    tmp_path: Path, images: list[ImageNode], monkeypatch: pytest.MonkeyPatch, window: int, most: int
) -> None:
    monkeypatch.setattr(run_images, "WINDOW", window)
    monkeypatch.setattr(run_images, "DOCUMENTS", most)
    found = []
    for document, read in RunImages(tmp_path).along(pages(images)):
        found.append((document.doc_id, [read(i.sha256) for i in document.images() if i.sha256]))
    assert found == [(f"{start}", CONTENTS[start : start + 3]) for start in range(0, len(CONTENTS), 3)]
    assert [RunImages(tmp_path)(image) for image in images] == CONTENTS
    assert RunImages(tmp_path)(ImageNode("u", "u")) is None


def test_no_more_documents_are_held_than_two_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_images, "DOCUMENTS", 4)
    begun = 0

    def documents() -> Iterator[Document]:
        nonlocal begun
        for begun in range(1, 101):
            yield Document(f"{begun}", "http://a.example/", "w", 0, 0, [])

    for done, _ in enumerate(RunImages(tmp_path).along(documents()), 1):
        assert begun - done <= 2 * 4


def test_damage_is_named_by_its_pack_or_its_file_and_what_is_whole_is_told(
    tmp_path: Path, images: list[ImageNode]
) -> None:
    one, other = images[7], images[5]
    assert one.pack is not None and one.offset is not None and other.sha256 is not None
    pack, alone = pack_path(tmp_path, one.pack), ImageStore(tmp_path).path(other.sha256)
    assert isinstance(pack, Path) and isinstance(alone, Path)
    data = bytearray(pack.read_bytes())
    data[one.offset] ^= 1
    pack.write_bytes(data)
    alone.unlink()
    for image, place in ((one, pack), (other, alone)):
        with pytest.raises(Damaged) as found:
            RunImages(tmp_path).read(image)
        assert list(found.value.locations) == [str(place)]
    with pytest.raises(Damaged):
        list(RunImages(tmp_path).along(pages(images)))
    assert RunImages(tmp_path).lost(images) == {one.sha256, other.sha256}
    pack.unlink()
    assert RunImages(tmp_path).lost(images) == {other.sha256, *(i.sha256 for i in images if i.pack == one.pack)}
