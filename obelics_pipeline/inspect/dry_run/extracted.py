"""The extract stage once more, from documents instead of pages: each is measured or only decided by another config."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from obelics_pipeline.core.code_identity import code_of
from obelics_pipeline.core.commit import Attempt, Manifest, committed
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.config.yaml_file import differences
from obelics_pipeline.core.document import Document, TextNode
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.storage import Location
from obelics_pipeline.core.tables import read_documents
from obelics_pipeline.core.unit import Unit, digest
from obelics_pipeline.stages.extract.measure import EMPTY, decision_config, measurement_config
from obelics_pipeline.stages.extract.stage import STAGE, measurer, write_documents

FROM_PAGES = (
    "reading.",
    "extract.",
    "filters.standardize_whitespace",
    "consent.lists",
    "consent.crawl",
)  # settings that only a page can be read again by
CUTS = ("reading.unit_bytes", "reading.pointer_rows", "reading.pointer_root")  # but for those of where units are cut


def require_same_pages(before: RunConfig, config: RunConfig) -> None:
    """Raises UserError where a config differs in what is taken from pages: a dry run cannot know it."""
    for line in differences(before.model_dump(mode="json"), config):
        if line.startswith(FROM_PAGES) and not line.startswith(CUTS):
            raise UserError(f"{line}: changes what is read from pages; run the sample again with it")
    if config.consent.licence.active and not before.consent.licence.active:
        raise UserError(
            "consent.licence.require: the sample did not read licences; run it again with consent.licence.read"
        )


def extracted_units(extracted: Sequence[Manifest], before: RunConfig, config: RunConfig) -> list[Unit]:
    """One unit per unit of the run. `before` is the config that its documents were measured by."""
    measured = measurement_config(config)
    anew = measured != measurement_config(before)
    units = []
    for m in extracted:
        payload = {"extracted": m.unit, "anew": anew}
        id_ = digest(code_of(__name__), m.unit, m.files["data"]["sha256"], measured, decision_config(config))
        units.append(Unit(STAGE, id_, m.unit.rpartition("-")[0], payload))
    return units


def extracted_unit(
    unit: Unit, *, folder: Location, run_folder: Location, before: RunConfig, config: RunConfig
) -> Manifest:
    """The documents of one unit of the run, decided by `config`."""
    source = committed(run_folder, unit.payload["extracted"])
    ledger = Ledger("documents")
    with Attempt(folder, unit) as attempt:
        documents = _decided(source.path(run_folder, "data"), unit.payload["anew"], before, config)
        write_documents(documents, attempt.file("data", ".parquet"), config, ledger)
        return attempt.commit([source.ledgers["records"], ledger], {})


def _decided(path: Location, anew: bool, before: RunConfig, config: RunConfig) -> Iterator[Document]:
    measuring = measurer(config.model_dump_json())
    ours = {EMPTY, *before.filters.paragraph}
    for document in read_documents(path):
        if anew:
            forget(document, ours)
            measuring.measure(document, everything=True)
        else:
            measuring.decide(document, everything=True)
        yield document


def forget(document: Document, ours: set[str]) -> None:
    """Make a document as it was before it was measured. `ours` are the reasons of paragraphs that measuring gave."""
    document.reason = None
    for node in document.nodes:
        if isinstance(node, TextNode):
            node.scores = {}
            if node.reason in ours:
                node.reason = None
