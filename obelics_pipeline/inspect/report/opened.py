"""A run's folder as a report reads it: what its manifests, its config and its event log say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from obelics_pipeline.core.config import RunConfig, load_config
from obelics_pipeline.core.config.run import load_resolved
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.shards.manifest import RunManifest, read_manifest
from obelics_pipeline.core.storage import local_copy, location, size_of
from obelics_pipeline.inspect.run_tables.documents import document_table
from obelics_pipeline.jobs.events import Event, read_events


@dataclass(frozen=True)
class Run:
    """What a run says of itself. `path` is as it was given; `manifest` is missing (None) if it has not finished."""

    path: str
    folder: RunFolder
    config_name: str
    sample: float | None  # the share of the input that was asked for; None for all
    config: RunConfig
    resolved: Mapping[str, Any]  # the same config, as it stands in the folder
    manifest: RunManifest | None
    validated: bool
    failed_units: Sequence[Mapping[str, str]]  # stage, unit, reason
    events: Sequence[Event]

    @property
    def finished(self) -> bool:
        """Whether shards, index and manifest are there."""
        return self.manifest is not None

    @property
    def sample_read(self) -> str:
        """The share of the input that was read, for a run of a sample. Whole units are read, so it differs from the
        share asked for.
        """
        units = {} if self.manifest is None else self.manifest.notes.get("sample_units", {})
        asked = f"--sample {self.sample:g}"
        return (
            f"{units['read']:,} of {units['of']:,} units of the input ({asked})"
            if units
            else f"a part of the input ({asked})"
        )


@dataclass(frozen=True)
class Opened(Run):
    """A run with a row for each document: see document_table."""

    documents: pa.Table


def open_run(path: str) -> Opened:
    """Read all that a report needs but the nodes. Raises UserError where no run is, or nothing is extracted yet."""
    documents = document_table(RunFolder(location(path)))
    return Opened(**vars(read_run(path)), documents=documents)


def read_run(path: str) -> Run:
    """Read what a run says of itself, and none of its documents. Raises UserError where no run is."""
    folder = RunFolder(location(path))
    folder.refuse_other_format()
    noted = folder.noted()
    events = read_events(folder.events)
    manifest = _manifest(folder)
    if manifest is not None:
        sample, failed = manifest.notes.get("sample"), manifest.notes.get("failed_units", [])
    else:
        sample, failed = noted.get("sample"), _failures(events)
    if size_of(folder.config) is None:
        raise UserError(f"{path}: {folder.config.name} is missing; give the --output of a run")
    with local_copy(folder.config) as config:
        checked, resolved = load_config(str(config)), load_resolved(config)
    return Run(
        path=path,
        folder=folder,
        config_name=str(noted.get("config", "unknown")),
        sample=sample,
        config=checked,
        resolved=resolved,
        manifest=manifest,
        validated=manifest is not None and folder.is_validated(),
        failed_units=failed,
        events=events,
    )


def _manifest(folder: RunFolder) -> RunManifest | None:
    return read_manifest(folder.path) if folder.manifest.exists() else None


def _failures(events: Sequence[Event]) -> list[Mapping[str, str]]:
    """The units that failed since the last start."""
    failed: list[Mapping[str, str]] = []
    for event in events:
        if event["event"] == "run_started":
            failed = []
        elif event["event"] == "unit_failed":
            failed.append({name: str(event.get(name, "")) for name in ("stage", "unit", "reason")})
    return failed
