"""Which folders of a run hold documents, in the order in which stages write them, and which of their units count."""

from __future__ import annotations

from typing import Any

from obelics_pipeline.commit import Manifest, read_manifests, unit_names
from obelics_pipeline.config.run import load_resolved
from obelics_pipeline.folder import RunFolder
from obelics_pipeline.storage import Place, local_copy, size_of

STAGES = ("extract", "dedup", "site", "consent", "assemble", "score", "shard")  # that may drop a document, in order


def document_folders(folder: RunFolder) -> list[tuple[str, Place]]:
    """Stage and folder, of the stages that the run's config asks for: others may lie there from an earlier config."""
    places = (folder.extract, folder.dedup, folder.site, folder.consent, folder.assembled, folder.scored)
    values = _values(folder)
    asked = {"dedup": _compares(values), "site": _looks_at_sites(values), "consent": _asks(values)}
    return [(stage, place) for stage, place in zip(STAGES, places, strict=False) if asked.get(stage, True)]


def committed_units(folder: RunFolder, place: Place) -> list[Manifest]:
    """The units of a stage, in the order of their names, that were made of what is extracted now."""
    names = set(unit_names(folder.extract))
    manifests = read_manifests(place, unit_names(place))
    return [m for _, m in sorted(manifests.items()) if m.notes.get("partition", m.unit).partition("@")[0] in names]


def duplicates_file(folder: RunFolder) -> Place | None:
    """The list of documents that the last comparison left out; None where there is none."""
    there = size_of(folder.duplicates) is not None and _compares(_values(folder))
    return folder.duplicates if there else None


def _values(folder: RunFolder) -> dict[str, Any]:
    if size_of(folder.config) is None:
        return {}
    with local_copy(folder.config) as path:
        return load_resolved(path)


def _compares(values: dict[str, Any]) -> bool:
    return bool((values.get("dedup") or {}).get("enabled", True))


def _looks_at_sites(values: dict[str, Any]) -> bool:
    site = values.get("site") or {}
    return not values or bool(site.get("enabled") or site.get("document"))


def _asks(values: dict[str, Any]) -> bool:
    return not values or bool((values.get("consent") or {}).get("service"))
