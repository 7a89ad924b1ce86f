"""A run as MLflow and Weights & Biases have it, by their own packages: the config, the counts of stages, the end."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from obelics_pipeline.core.shards.manifest import read_manifest
from obelics_pipeline.jobs.events import read_events
from obelics_pipeline.jobs.hooks.hook import Undelivered
from obelics_pipeline.jobs.hooks.stage_counts import StageCounts
from obelics_pipeline.jobs.hooks.tracker import Tracker
from obelics_pipeline.jobs.stages import STAGES, names_of
from tests.jobs.hooks.test_hooks import run
from tests.small import write_warc

SECONDS = "seconds: 800"  # their packages are large: on a busy machine it takes minutes to import one


def told_of_hooks(output: Path) -> list[str]:
    lines = [event["line"] for event in read_events(output / "events.jsonl") if event["event"] == "told"]
    return [line for line in lines if "hooks." in line]


@pytest.mark.slow
def test_mlflow_has_the_config_the_counts_of_each_stage_and_one_run_for_both_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("mlflow", reason="needs the extra mlflow: pip install 'obelics-pipeline[mlflow]'")
    from mlflow import MlflowClient

    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # a database needs the whole of MLflow, a server too
    output, warc, store = tmp_path / "out", write_warc(tmp_path / "pages.warc.gz"), tmp_path / "store"
    for _ in range(2):
        run(warc, output, f"{{mlflow: {{tracking_uri: '{store}', experiment: pages}}, {SECONDS}}}")
    assert told_of_hooks(output) == []
    client = MlflowClient(str(store))
    experiment = client.get_experiment_by_name("pages")
    assert experiment is not None
    (found,) = client.search_runs([experiment.experiment_id])
    assert found.info.status == "FINISHED"
    params, tags = found.data.params, found.data.tags
    assert params["config_sha256"] == hashlib.sha256((output / "config.yaml").read_bytes()).hexdigest()
    assert (params["config"], params["fetch.enabled"]) == ("default", "false")
    assert tags["output"] == str(output)
    kept = {point.step: point.value for point in client.get_metric_history(found.info.run_id, "documents/kept")}
    stages = {name: number for number, name in enumerate(names_of(STAGES), 1)}
    assert kept.keys() >= {stages["extract"], stages["assemble"]}
    assert kept[stages["extract"]] == read_manifest(output).ledgers["documents"].kept == 6


@pytest.mark.slow
def test_wandb_has_the_config_and_the_counts_of_each_stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wandb", reason="needs the extra wandb: pip install 'obelics-pipeline[wandb]'")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    output, warc = tmp_path / "out", write_warc(tmp_path / "pages.warc.gz")
    run(warc, output, f"{{wandb: {{project: pages, mode: offline}}, {SECONDS}}}")
    assert told_of_hooks(output) == []
    (written,) = tmp_path.glob("wandb/offline-run-*/*.wandb")
    content = written.read_bytes()
    sha256 = hashlib.sha256((output / "config.yaml").read_bytes()).hexdigest()
    for text in ("config_sha256", sha256, str(output), "documents/kept", "records/in"):
        assert text.encode() in content, text


def test_a_tracker_that_fails_says_why_and_is_asked_anew(tmp_path: Path) -> None:
    about = {"kind": "mlflow", "settings": {"tracking_uri": "no-such-kind://", "experiment": "e"}}
    tracker = Tracker("hooks.0.mlflow", about, StageCounts(STAGES), seconds=800.0)
    for _ in range(2):
        with pytest.raises(Undelivered) as found:
            tracker.deliver({"says": "started"})
        assert "Error" in found.value.reason or "Exception" in found.value.reason
    tracker.close()


def test_a_tracker_that_takes_too_long_is_ended() -> None:
    tracker = Tracker("hooks.0.mlflow", {}, StageCounts(STAGES), seconds=0.0)
    with pytest.raises(Undelivered, match="timeout"):
        tracker.deliver({"says": "started"})
    assert tracker._child is None
