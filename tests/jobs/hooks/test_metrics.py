"""A run as a collector of OpenTelemetry gets it: its units, and what it counted by verdict and reason."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from obelics_pipeline.jobs.events import read_events
from tests.jobs.hooks.collector import Collector, collecting
from tests.jobs.hooks.test_hooks import run
from tests.jobs.hooks.test_trackers import told_of_hooks
from tests.small import write_warc

pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="needs the extra metrics")
HOOK = "{metrics: otlp, seconds: 800}"  # on a busy machine its package takes long to import


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    monkeypatch.setenv("no_proxy", "*")
    with collecting() as found:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", found.address)
        yield found


def test_a_collector_has_the_units_and_the_counts_of_a_run(
    collector: Collector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "team=curation")
    monkeypatch.setenv("OTEL_SERVICE_NAME", "night-run")
    output, warc = tmp_path / "out", write_warc(tmp_path / "pages.warc.gz")
    run(warc, output, HOOK, more=("filters.document={word_count: {min: 1000}}",))
    assert told_of_hooks(output) == []
    assert collector.paths == {"/v1/metrics"}
    assert (collector.resource["service.name"], collector.resource["team"]) == ("night-run", "curation")
    assert collector.resource["obelics.config"] == "default"
    done = [event for event in read_events(output / "events.jsonl") if event["event"] == "unit_done"]
    assert collector.value("obelics.units", outcome="done") == len(done)
    assert collector.value("obelics.unit.duration") == len(done)
    assert collector.value("obelics.unit.cpu") == pytest.approx(sum(event["cpu_seconds"] for event in done))
    assert collector.value("obelics.input", stage="extract") == warc.stat().st_size
    assert collector.value("obelics.records", verdict="kept") == 6
    assert collector.value("obelics.documents", verdict="kept") == 0
    assert collector.value("obelics.documents", stage="extract", verdict="dropped", reason="word_count") == 6
    assert collector.value("obelics.step.units", step="extract", state="all") == 1
    assert collector.value("obelics.runs.ended", how="done") == 1


def test_a_collector_that_refuses_is_told_of_and_the_run_goes_on(collector: Collector, tmp_path: Path) -> None:
    collector.status = 400
    run(write_warc(tmp_path / "pages.warc.gz"), tmp_path / "out", HOOK)
    (line,) = told_of_hooks(tmp_path / "out")
    assert "hooks.0.metrics: 1 of" in line
    assert "the collector did not take the metrics" in line


def test_another_protocol_than_http_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    run(write_warc(tmp_path / "pages.warc.gz"), tmp_path / "out", HOOK, code=2)
    said = capsys.readouterr().err
    assert "hooks.0.metrics: OTEL_EXPORTER_OTLP_PROTOCOL=grpc: only http/protobuf" in said
    assert said.count("\n") == 1
    assert not (tmp_path / "out").exists()
