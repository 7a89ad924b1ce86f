"""Which folders of a run hold documents, in the order in which stages write them, and which of their units count."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import ValidationError

from obelics_pipeline.core.commit import Manifest, read_manifests, unit_names
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.config.run import load_resolved
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.storage import Location, local_copy, size_of
from obelics_pipeline.jobs.noted import stages_in
from obelics_pipeline.stages.stage import Stage


def counting_documents(stages: Sequence[Stage]) -> list[str]:
    """The names of the stages that may drop a document, in order."""
    return [stage.name for stage in stages if any("documents" in nouns for nouns in stage.ledgers.values())]


def active_stages(folder: RunFolder) -> list[Stage]:
    """The stages of a run that its config asks for: files of others may lie in its folder from an earlier config."""
    config = _config(folder)
    return [stage for stage in stages_in(folder) if config is None or stage.active(config)]


def document_folders(folder: RunFolder) -> list[tuple[str, Location]]:
    """Stage and folder, of the stages that the run's config asks for and that write documents."""
    return [(stage.name, stage.folder(folder.path)) for stage in active_stages(folder) if stage.documents]


def committed_units(folder: RunFolder, place: Location) -> list[Manifest]:
    """The units of a stage that were made from the present extracted documents, in the order of their names."""
    names = set(unit_names(folder.extract))
    manifests = read_manifests(place, unit_names(place))
    return [m for _, m in sorted(manifests.items()) if m.notes.get("partition", m.unit).partition("@")[0] in names]


def duplicates_file(folder: RunFolder) -> Location | None:
    """The list of documents that the last comparison left out; None if there is no list."""
    config = _config(folder)
    there = size_of(folder.duplicates) is not None and (config is None or config.dedup.enabled)
    return folder.duplicates if there else None


def _config(folder: RunFolder) -> RunConfig | None:
    """The config of the last run in a folder; None where it is missing, or not as this version writes it."""
    if size_of(folder.config) is None:
        return None
    with local_copy(folder.config) as path:
        values = load_resolved(path)
    try:
        return RunConfig.model_validate(values) if values else None
    except ValidationError:
        return None
