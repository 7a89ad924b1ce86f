"""Pages that are all taken for honest: of files of texts, and of finished runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from obelics_pipeline.core.commit import read_manifests, unit_names
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.shards.run_index import demand_index
from obelics_pipeline.core.storage import location
from obelics_pipeline.core.tables import read_documents
from obelics_pipeline.demo.verdicts import REASONS
from obelics_pipeline.fit.texts import text_files
from obelics_pipeline.inspect.run_tables.folders import document_folders

LANGUAGE = "en"  # of pages that say nothing else, and of those that are taken of a run


@dataclass(frozen=True, slots=True)
class Page:
    """A page that is taken for honest."""

    id: str
    text: str
    language: str | None


def honest_pages(files: Sequence[str], runs: Sequence[str]) -> Iterator[tuple[str, list[Page]]]:
    """The name and the pages of each source. Raises UserError where one is not there, or is no such thing."""
    for file in text_files(files):
        pages = list(file.rows(("id", "text", "language"), _page_of))
        yield str(file), pages  # with what was skipped of it
    for run in runs:
        yield run, list(_pages_of_run(run))


def _page_of(row: Mapping[str, Any]) -> Page | str:
    """The page of a row, or what is wrong with the row."""
    text, language = row.get("text"), row.get("language", LANGUAGE)
    if not isinstance(text, str):
        return "without text"
    if not isinstance(language, str | None):
        return "with a language that is no text"
    return Page(str(row.get("id", "")), text, language)


def _pages_of_run(path: str) -> Iterator[Page]:
    """English documents that a run kept or dropped as generated, each as the last stage that read it has left it.

    Raises UserError where no finished run is.
    """
    folder = RunFolder(location(path))
    if not folder.manifest.exists():
        raise UserError(f"--run {path}: no finished run is there; give the --output of one")
    kept = set(demand_index(folder.path).table(["doc_id"])["doc_id"].to_pylist())
    found: dict[str, Page] = {}
    for _, stage in document_folders(folder):
        for manifest in read_manifests(stage, unit_names(stage)).values():
            for document in read_documents(manifest.path(stage, "data")):
                if document.language == LANGUAGE and (document.doc_id in kept or document.reason in REASONS):
                    found[document.doc_id] = Page(document.doc_id, document.text(), LANGUAGE)
    yield from found.values()
