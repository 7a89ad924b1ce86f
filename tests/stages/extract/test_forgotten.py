"""A page that was removed leaves a count; a document of one a blank; an image a place without an address."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from obelics_pipeline.core.config import RunConfig, load_config
from obelics_pipeline.core.document import Document, ImageNode
from obelics_pipeline.core.tables import read_documents
from obelics_pipeline.policy.forgotten import is_blank
from obelics_pipeline.stages.extract.stage import extract_unit, extract_units
from obelics_pipeline.stages.read.inputs import resolve_inputs
from obelics_pipeline.stages.read.ranges import plan_ranges


def never(_value: str) -> bool:
    return False


@dataclass
class Known:
    """What some functions say."""

    url: Callable[[str], bool] = never
    document: Callable[[str], bool] = never
    text: Callable[[str], bool] = never
    sha256: Callable[[str], bool] = never

    def content(self, data: bytes) -> bool:
        return False

    def image_set(self, images: Sequence[ImageNode]) -> bool:
        return False

    def name(self, doc_id: str) -> str:
        return doc_id[::-1]


@pytest.fixture(scope="module")
def config() -> RunConfig:
    return load_config("default")


def extracted(warcs: list[Path], config: RunConfig, folder: Path, known: Known | None):  # type: ignore[no-untyped-def]
    tasks = plan_ranges(resolve_inputs([str(warcs[0])], config.reading), config.reading)
    manifest = extract_unit(extract_units(tasks, config)[0], folder=folder, config=config, forgotten=known)
    return manifest, list(read_documents(manifest.path(folder, "data")))


@pytest.fixture(scope="module")
def usual(warcs: list[Path], config: RunConfig, tmp_path_factory: pytest.TempPathFactory) -> list[Document]:
    return list(extracted(warcs, config, tmp_path_factory.mktemp("usual"), None)[1])


def test_a_page_by_its_address(warcs: list[Path], config: RunConfig, usual: list[Document], tmp_path: Path) -> None:
    page = usual[4]
    manifest, documents = extracted(warcs, config, tmp_path, Known(url=lambda url: url == page.url))
    assert [d.doc_id for d in documents] == [d.doc_id for d in usual if d.url != page.url]
    assert manifest.ledgers["records"].dropped["forgotten"] == 1
    rows = pq.read_table(manifest.path(tmp_path, "records")).to_pylist()
    (row,) = [row for row in rows if row["reason"] == "forgotten"]
    assert {row[name] for name in ("url", "warc_filename", "warc_record_offset", "warc_record_length")} == {None}
    assert page.url not in {row["url"] for row in rows}


def test_a_document_by_its_text(warcs: list[Path], config: RunConfig, usual: list[Document], tmp_path: Path) -> None:
    page = next(document for document in usual if document.reason is None)
    manifest, documents = extracted(warcs, config, tmp_path, Known(text=lambda text: text == page.text()))
    assert len(documents) == len(usual)
    (blank,) = [document for document in documents if is_blank(document)]
    assert (blank.doc_id, blank.nodes, blank.general) == (page.doc_id[::-1], [], {})
    assert manifest.ledgers["documents"].dropped["forgotten"] == 1
    assert manifest.ledgers["documents"].balanced()


def test_an_image_by_its_address(warcs: list[Path], config: RunConfig, usual: list[Document], tmp_path: Path) -> None:
    page = next(document for document in usual if len(document.images()) > 1)
    image = page.images()[0]
    _, documents = extracted(warcs, config, tmp_path, Known(url=lambda url: url == image.src))
    found = next(document for document in documents if document.doc_id == page.doc_id)
    assert len(found.images()) == len(page.images()) - 1
    assert [n.reason for n in found.nodes if isinstance(n, ImageNode) and not n.src] == ["forgotten"]


def test_a_unit_is_another_where_other_tombstones_are_obeyed(warcs: list[Path], config: RunConfig) -> None:
    tasks = plan_ranges(resolve_inputs([str(warcs[0])], config.reading), config.reading)
    ids = [extract_units(tasks, config, forgotten=digest)[0].id for digest in ("", "a", "b")]
    assert len(set(ids)) == 3
    assert extract_units(tasks, config)[0].id == ids[0]
