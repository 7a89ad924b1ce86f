"""How a published corpus was made, as OpenLineage events, a JSON object a line.

A start and a completion of the run, and of each of its stages. Ids follow from the content; times are those of the
run's event log.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from obelics_pipeline.jobs.open_lineage import dataset, run_and_job, run_event, run_id


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
    whole = _job(made, made.config, {"counts": dict(made.counts)})
    sources = [dataset(f"input/{name}") for name in made.inputs]
    published = [dataset(name, about, made.version) for name, about in made.outputs.items()]
    yield run_event("START", first, whole, sources, [], made.version)
    before = sources
    for stage, code in made.code.items():
        job = _job(made, f"{made.config}.{stage}", {"code": code}, whole)
        begun, done = _time(log, "stage_started", first, stage), _time(log, "stage_done", last, stage)
        after = [dataset(f"stage/{stage}")]
        yield run_event("START", begun, job, before, [], made.version)
        yield run_event("COMPLETE", done, job, before, after, made.version)
        before = after
    yield run_event("COMPLETE", last, whole, sources, published, made.version)


def _time(
    log: Sequence[Mapping[str, Any]], name: str, otherwise: float = 0.0, stage: str | None = None, first: bool = False
) -> float:
    """Seconds since 1970: of the last such event, or the first; a stage that had nothing to do has none."""
    found = [event["time"] for event in log if event["event"] == name and event.get("stage") == stage]
    return float(found[0 if first else -1]) if found else otherwise


def _job(made: Made, name: str, own: Mapping[str, Any], parent: Mapping[str, Any] | None = None) -> dict[str, Any]:
    about = {"config": made.config, "config_sha256": made.config_sha256, "revision": made.revision, **own}
    return run_and_job(run_id(made.corpus, made.config_sha256, name), name, about, parent, made.version)
