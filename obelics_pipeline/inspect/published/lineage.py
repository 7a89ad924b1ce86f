"""How a published corpus was made, as OpenLineage events (openlineage.io/spec, version 2-0-2), a JSON object a line.

A start and a completion of the run, and of each of its stages. Ids follow from the content; times are those of the
run's event log.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

SCHEMA = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
FACETS = "https://openlineage.io/spec/facets/1-0-0"
NAMESPACE = "obelics-pipeline"
_IDS = uuid.uuid5(uuid.NAMESPACE_DNS, "obelics-pipeline")


@dataclass(frozen=True)
class Made:
    """What is known of a run. `code` is the identity of each stage's code, in their order; `inputs` are WARC files.

    `outputs` have, by name, the sha256, the bytes and the rows of each published file. `corpus` stands for the content
    of the shards (the sha256 of their index).
    """

    config: str
    config_sha256: str
    revision: int
    code: Mapping[str, str]
    inputs: Sequence[str]
    outputs: Mapping[str, tuple[str, int, int]]
    corpus: str
    counts: Mapping[str, int]
    version: str  # of this package


def lineage(made: Made, events: Iterable[Mapping[str, Any]]) -> bytes:
    """All events as JSON lines, by their times. `events` are those of the run's log."""
    found = sorted(_events(made, list(events)), key=lambda event: event["eventTime"])
    return b"".join(json.dumps(event, ensure_ascii=False, sort_keys=True).encode() + b"\n" for event in found)


def _events(made: Made, log: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    first, last = _time(log, "run_started", first=True), _time(log, "run_done")
    whole = _job(made, made.config)
    sources = [_dataset(made, f"input/{name}") for name in made.inputs]
    published = [_dataset(made, name, *about) for name, about in made.outputs.items()]
    yield _event(made, "START", first, whole, sources, [])
    before = sources
    for stage, code in made.code.items():
        job = _job(made, f"{made.config}.{stage}", code, whole)
        after = [_dataset(made, f"stage/{stage}")]
        yield _event(made, "START", _time(log, "stage_started", first, stage), job, before, [])
        yield _event(made, "COMPLETE", _time(log, "stage_done", last, stage), job, before, after)
        before = after
    yield _event(made, "COMPLETE", last, whole, sources, published)


def _time(
    log: Sequence[Mapping[str, Any]], name: str, otherwise: float = 0.0, stage: str | None = None, first: bool = False
) -> float:
    """Seconds since 1970: of the last such event, or the first; a stage that had nothing to do has none."""
    found = [event["time"] for event in log if event["event"] == name and event.get("stage") == stage]
    return float(found[0 if first else -1]) if found else otherwise


def _job(made: Made, name: str, code: str | None = None, parent: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The parts `run` and `job` of an event."""
    run_id = str(uuid.uuid5(_IDS, f"{made.corpus} {made.config_sha256} {name}"))
    facets: dict[str, Any] = {
        "processing_engine": _facet(
            made, f"{FACETS}/ProcessingEngineRunFacet.json", name="obelics-pipeline", version=made.version
        )
    }
    own: dict[str, Any] = {"config": made.config, "config_sha256": made.config_sha256, "revision": made.revision}
    if parent is not None:
        facets["parent"] = _facet(
            made,
            f"{FACETS}/ParentRunFacet.json",
            run={"runId": parent["run"]["runId"]},
            job={key: parent["job"][key] for key in ("namespace", "name")},
        )
        own |= {"code": code}
    else:
        own |= {"counts": dict(made.counts)}
    facets["obelics_run"] = _facet(made, SCHEMA.replace("RunEvent", "RunFacet"), **own)
    return {"run": {"runId": run_id, "facets": facets}, "job": {"namespace": NAMESPACE, "name": name}}


def _dataset(made: Made, name: str, sha256: str | None = None, size: int = 0, rows: int = 0) -> dict[str, Any]:
    dataset: dict[str, Any] = {"namespace": NAMESPACE, "name": name}
    if sha256 is not None:
        version = _facet(made, f"{FACETS}/DatasetVersionDatasetFacet.json", datasetVersion=sha256)
        counts = _facet(made, f"{FACETS}/OutputStatisticsOutputDatasetFacet.json", rowCount=rows, size=size)
        dataset |= {"facets": {"version": version}, "outputFacets": {"outputStatistics": counts}}
    return dataset


def _facet(made: Made, schema: str, **values: Any) -> dict[str, Any]:
    return {"_producer": _producer(made), "_schemaURL": schema, **values}


def _producer(made: Made) -> str:
    return f"urn:obelics-pipeline:{made.version}"


def _event(
    made: Made,
    kind: str,
    seconds: float,
    job: Mapping[str, Any],
    inputs: Sequence[Mapping[str, Any]],
    outputs: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    return {
        "eventType": kind,
        "eventTime": datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds"),
        "producer": _producer(made),
        "schemaURL": SCHEMA,
        **job,
        "inputs": list(inputs),
        "outputs": list(outputs),
    }
