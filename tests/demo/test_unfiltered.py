"""The second crawl's page: dropped by the default config, and let through where its bounds are taken away."""

from pathlib import Path

from obelics_pipeline.core.config import load_config
from obelics_pipeline.core.document import Document
from obelics_pipeline.core.tables import read_documents
from obelics_pipeline.demo.unfiltered import URL, pack_unfiltered, without_bounds
from obelics_pipeline.stages.extract.stage import extract_unit, extract_units
from obelics_pipeline.stages.read.inputs import resolve_inputs
from obelics_pipeline.stages.read.ranges import plan_ranges


def extracted(folder: Path, overrides: list[str]) -> list[Document]:
    config = load_config("default", overrides)
    sources = resolve_inputs([str(pack_unfiltered(folder / "input"))], config.reading)
    units = extract_units(plan_ranges(sources, config.reading), config)
    manifests = [extract_unit(unit, folder=folder / "extract", config=config) for unit in units]
    return [document for m in manifests for document in read_documents(m.path(folder / "extract", "data"))]


def test_the_page_is_dropped_by_the_default_config(tmp_path: Path) -> None:
    (page,) = extracted(tmp_path, [])
    assert page.url == URL
    assert page.reason is not None


def test_without_bounds_it_is_kept_with_its_scores(tmp_path: Path) -> None:
    (page,) = extracted(tmp_path, without_bounds())
    assert page.reason is None
    assert page.scores["stopword_ratio"] == 0
    assert page.scores["language_score"] < 0.2


def test_the_same_crawl_has_the_same_bytes(tmp_path: Path) -> None:
    assert pack_unfiltered(tmp_path / "a").read_bytes() == pack_unfiltered(tmp_path / "b").read_bytes()
