"""The demo's site, extracted in this process by the real stages, for all tests of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from obelics_pipeline.core.config import RunConfig, load_config
from obelics_pipeline.core.document import Document
from obelics_pipeline.core.tables import read_documents
from obelics_pipeline.stages.extract.stage import extract_unit, extract_units
from obelics_pipeline.stages.read.inputs import resolve_inputs
from obelics_pipeline.stages.read.ranges import plan_ranges


@dataclass(frozen=True)
class Extracted:
    """What the extract stage made of the site."""

    documents: list[Document]
    records: list[dict[str, Any]]

    def of(self, url: str) -> list[Document]:
        return [d for d in self.documents if d.url == url]


@pytest.fixture(scope="session")
def expectations() -> dict[str, Any]:
    values: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "expectations.yaml").read_text(encoding="utf-8"))
    return values


@pytest.fixture(scope="session")
def extract(warcs: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Callable[[RunConfig], Extracted]:
    def run(config: RunConfig) -> Extracted:
        folder = tmp_path_factory.mktemp("extract")
        sources = resolve_inputs([str(path) for path in warcs], config.reading)
        units = extract_units(plan_ranges(sources, config.reading), config)
        manifests = [extract_unit(unit, folder=folder, config=config) for unit in units]
        documents = [d for m in manifests for d in read_documents(m.path(folder, "data"))]
        records = [row for m in manifests for row in pq.read_table(m.path(folder, "records")).to_pylist()]
        return Extracted(documents, records)

    return run


@pytest.fixture(scope="session")
def extracted(extract: Callable[[RunConfig], Extracted]) -> Extracted:
    """Under the default config."""
    return extract(load_config("default"))


@pytest.fixture(scope="session")
def under_the_paper(extract: Callable[[RunConfig], Extracted]) -> Extracted:
    """Our extraction, and the text filters of the paper."""
    ours, paper = load_config("default"), load_config("obelics")
    return extract(ours.model_copy(update={"filters": paper.filters}))
