"""The log of a run as OpenLineage events: every START has one end, by the specification's members."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jsonschema
import pytest

from obelics_pipeline.jobs.hooks.lineage import Lineage
from obelics_pipeline.jobs.stages import STAGES
from tests.inspect.published.test_lineage import EVENT

STARTED = {"event": "run_started", "inputs": ["a.warc.gz"], "config_sha256": "c" * 64}
KEYS = {"event": "stage_started", "stage": "extract"}
DONE = {"event": "stage_done", "stage": "extract", "failed": 0, "ledgers": {"documents": {"in": 3, "kept": 2}}}
SHUFFLED = [{"event": "shuffle_started", "step": "links"}, {"event": "shuffle_done", "step": "links"}]
STOPPED = {"event": "run_stopped", "reason": "disk full", "exit_code": 3}


def said(*log: dict[str, Any]) -> list[dict[str, Any]]:
    lineage = Lineage("/runs/out", "default", STAGES, {"extract": "e1"})
    return [event for at, line in enumerate(log, 1) for event in lineage({"time": float(at), **line})]


def short(events: Sequence[dict[str, Any]]) -> list[str]:
    return [f"{event['eventType']} {event['job']['name']}" for event in events]


def test_a_run_and_its_stages_start_and_complete() -> None:
    events = said(STARTED, KEYS, DONE, *SHUFFLED, {"event": "run_done", "exit_code": 0})
    assert short(events) == [
        "START default",
        "START default.extract",
        "COMPLETE default.extract",
        "START default.dedup",
        "COMPLETE default.dedup",
        "COMPLETE default",
    ]
    for event in events:
        jsonschema.validate(event, EVENT, format_checker=jsonschema.FormatChecker())
    assert [event["eventTime"][17:19] for event in events] == ["01", "02", "03", "04", "05", "06"]


def test_stages_name_the_run_that_they_are_part_of_and_their_counts() -> None:
    run, start, end, _ = said(STARTED, KEYS, DONE, {"event": "run_done", "exit_code": 0})
    for event in (start, end):
        assert event["run"]["facets"]["parent"]["run"]["runId"] == run["run"]["runId"]
        assert event["run"]["facets"]["obelics_run"]["code"] == "e1"
    assert end["run"]["facets"]["obelics_run"]["ledgers"] == DONE["ledgers"]
    assert [one["name"] for one in end["outputs"]] == ["/runs/out/stage/extract"]
    assert [one["name"] for one in start["inputs"]] == ["input/a.warc.gz"]


@pytest.mark.parametrize(
    ("log", "ends"),
    [
        ([STARTED, KEYS, STOPPED], ["ABORT default.extract", "ABORT default"]),
        ([STARTED, KEYS, STOPPED | {"exit_code": 1}], ["FAIL default.extract", "FAIL default"]),
        ([STARTED, KEYS, DONE, STOPPED], ["COMPLETE default.extract", "ABORT default"]),
        (
            [STARTED, KEYS, DONE | {"failed": 2}, {"event": "run_done", "exit_code": 1}],
            ["FAIL default.extract", "FAIL default"],
        ),
        (
            [STARTED, KEYS, STARTED, {"event": "run_done", "exit_code": 0}],
            ["ABORT default.extract", "ABORT default", "COMPLETE default"],
        ),
        (
            [STARTED, KEYS, SHUFFLED[0], KEYS, DONE, {"event": "run_done", "exit_code": 0}],
            ["ABORT default.extract", "ABORT default.dedup", "COMPLETE default.extract", "COMPLETE default"],
        ),
    ],
)
def test_every_start_has_one_end(log: list[dict[str, Any]], ends: list[str]) -> None:
    events = said(*log)
    assert [line for line in short(events) if not line.startswith("START")] == ends
    started = [event["run"]["runId"] for event in events if event["eventType"] == "START"]
    ended = [event["run"]["runId"] for event in events if event["eventType"] != "START"]
    assert len(set(started)) == len(started)
    assert sorted(started) == sorted(ended)
    for event in events:
        jsonschema.validate(event, EVENT, format_checker=jsonschema.FormatChecker())


@pytest.mark.parametrize(
    "line",
    [
        {"event": "run_started", "inputs": 3},
        {"event": "stage_started"},
        {"event": "stage_done", "failed": "x", "ledgers": 1},
        {"event": "run_done"},
        {"event": ["x"]},
        {"event": "run_started", "time": float("nan")},
        {"event": "run_started", "time": 1e300},
    ],
)
def test_a_line_of_a_strange_log_stops_nothing(line: dict[str, Any]) -> None:
    said(STARTED, KEYS, line, KEYS, DONE)
