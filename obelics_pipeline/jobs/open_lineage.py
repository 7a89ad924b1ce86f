"""The parts of an OpenLineage event (openlineage.io/spec, version 2-0-2): runs, jobs, data sets, facets."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from obelics_pipeline import __version__

SCHEMA = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
FACETS = "https://openlineage.io/spec/facets/1-0-0"
NAMESPACE = "obelics-pipeline"
_IDS = uuid.uuid5(uuid.NAMESPACE_DNS, "obelics-pipeline")


def run_id(*parts: object) -> str:
    """The id of a run, the same for the same parts."""
    return str(uuid.uuid5(_IDS, " ".join(map(str, parts))))


def run_and_job(
    id_of_run: str,
    name: str,
    about: Mapping[str, Any],
    parent: Mapping[str, Any] | None = None,
    version: str = __version__,
    error: str = "",
) -> dict[str, Any]:
    """The members `run` and `job` of an event. `about` is the facet of our own, `parent` what this gave for the run
    that a stage is part of; `version` is that of this package, `error` why the run failed.
    """
    facets: dict[str, Any] = {
        "processing_engine": _facet(
            version, f"{FACETS}/ProcessingEngineRunFacet.json", name="obelics-pipeline", version=version
        )
    }
    if parent is not None:
        facets["parent"] = _facet(
            version,
            f"{FACETS}/ParentRunFacet.json",
            run={"runId": parent["run"]["runId"]},
            job={key: parent["job"][key] for key in ("namespace", "name")},
        )
    if error:
        facets["errorMessage"] = _facet(
            version, f"{FACETS}/ErrorMessageRunFacet.json", message=error, programmingLanguage="Python"
        )
    facets["obelics_run"] = _facet(version, SCHEMA.replace("RunEvent", "RunFacet"), **about)
    return {"run": {"runId": id_of_run, "facets": facets}, "job": {"namespace": NAMESPACE, "name": name}}


def dataset(name: str, about: tuple[str, int, int] | None = None, version: str = __version__) -> dict[str, Any]:
    """A data set; `about` has the sha256, the bytes and the rows of a file."""
    found: dict[str, Any] = {"namespace": NAMESPACE, "name": name}
    if about is not None:
        sha256, size, rows = about
        state = _facet(version, f"{FACETS}/DatasetVersionDatasetFacet.json", datasetVersion=sha256)
        counts = _facet(version, f"{FACETS}/OutputStatisticsOutputDatasetFacet.json", rowCount=rows, size=size)
        found |= {"facets": {"version": state}, "outputFacets": {"outputStatistics": counts}}
    return found


def run_event(
    kind: str,
    seconds: float,
    job: Mapping[str, Any],
    inputs: Sequence[Mapping[str, Any]],
    outputs: Sequence[Mapping[str, Any]],
    version: str = __version__,
) -> dict[str, Any]:
    """An event: START, COMPLETE, FAIL or ABORT, at so many seconds since 1970, of what `run_and_job` gave."""
    return {
        "eventType": kind,
        "eventTime": datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds"),
        "producer": _producer(version),
        "schemaURL": SCHEMA,
        **job,
        "inputs": list(inputs),
        "outputs": list(outputs),
    }


def _facet(version: str, schema: str, /, **values: Any) -> dict[str, Any]:
    return {"_producer": _producer(version), "_schemaURL": schema, **values}


def _producer(version: str) -> str:
    return f"urn:obelics-pipeline:{version}"
