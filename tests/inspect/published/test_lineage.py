"""The run as OpenLineage events: by the specification's required members, and nothing that only one machine knows."""

from __future__ import annotations

import json
from typing import Any

import jsonschema

from obelics_pipeline.inspect.published.lineage import Made, lineage

MADE = Made(
    config="default",
    config_sha256="c" * 64,
    revision=2,
    code={"extract": "e1", "shard": "s1"},
    inputs=["a.warc.gz"],
    outputs={"data/train-00000-of-00001.parquet": ("d" * 64, 10, 3)},
    corpus="i" * 64,
    counts={"documents": 3},
    version="0.1.0",
)
LOG: list[dict[str, Any]] = [
    {"event": "run_started", "time": 1.0},
    {"event": "stage_started", "time": 2.0, "stage": "extract"},
    {"event": "stage_done", "time": 3.5, "stage": "extract"},
    {"event": "run_started", "time": 4.0},
    {"event": "run_done", "time": 9.0},
]

# What https://openlineage.io/spec/2-0-2/OpenLineage.json requires of an event and of a facet, in our words
FACETS = {"type": "object", "additionalProperties": {"type": "object", "required": ["_producer", "_schemaURL"]}}
NAMED = {
    "type": "object",
    "required": ["namespace", "name"],
    "properties": {
        "facets": FACETS,
        "outputFacets": FACETS,
        "namespace": {"type": "string"},
        "name": {"type": "string"},
    },
}
EVENT = {
    "type": "object",
    "required": ["eventTime", "producer", "schemaURL", "run", "job"],
    "properties": {
        "eventType": {"enum": ["START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER"]},
        "eventTime": {"type": "string", "format": "date-time"},
        "producer": {"type": "string", "format": "uri"},
        "run": {
            "type": "object",
            "required": ["runId"],
            "properties": {"runId": {"type": "string", "format": "uuid"}, "facets": FACETS},
        },
        "job": NAMED,
        "inputs": {"type": "array", "items": NAMED},
        "outputs": {"type": "array", "items": NAMED},
    },
}


def events(log: list[dict[str, Any]] = LOG) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lineage(MADE, log).splitlines()]


def test_each_event_has_what_the_specification_requires() -> None:
    for event in events():
        jsonschema.validate(event, EVENT, format_checker=jsonschema.FormatChecker())


def test_each_run_starts_and_completes_and_stages_name_their_parent() -> None:
    found = events()
    kinds: dict[str, list[str]] = {}
    for event in found:
        kinds.setdefault(event["job"]["name"], []).append(event["eventType"])
    assert kinds == {name: ["START", "COMPLETE"] for name in ("default", "default.extract", "default.shard")}
    whole = {event["run"]["runId"] for event in found if event["job"]["name"] == "default"}
    parents = {event["run"]["facets"]["parent"]["run"]["runId"] for event in found if "." in event["job"]["name"]}
    assert len(whole) == 1
    assert parents == whole


def test_inputs_and_published_files_are_named_with_their_hashes() -> None:
    (done,) = [e for e in events() if e["job"]["name"] == "default" and e["eventType"] == "COMPLETE"]
    assert [item["name"] for item in done["inputs"]] == ["input/a.warc.gz"]
    (output,) = done["outputs"]
    assert output["facets"]["version"]["datasetVersion"] == "d" * 64
    assert output["outputFacets"]["outputStatistics"]["rowCount"] == 3
    assert done["run"]["facets"]["obelics_run"]["revision"] == 2
    (stage,) = [e for e in events() if e["job"]["name"] == "default.shard" and e["eventType"] == "COMPLETE"]
    assert stage["run"]["facets"]["obelics_run"]["code"] == "s1"
    assert [item["name"] for item in stage["inputs"]] == ["stage/extract"]


def test_times_are_those_of_the_log() -> None:
    times = {(e["job"]["name"], e["eventType"]): e["eventTime"] for e in events()}
    assert times["default.extract", "COMPLETE"] == "1970-01-01T00:00:03.500+00:00"
    assert times["default.shard", "COMPLETE"] == times["default", "COMPLETE"] == "1970-01-01T00:00:09.000+00:00"
    assert times["default", "START"] == times["default.shard", "START"] == "1970-01-01T00:00:01.000+00:00"


def test_equal_runs_have_equal_events() -> None:
    assert lineage(MADE, LOG) == lineage(MADE, list(LOG))
