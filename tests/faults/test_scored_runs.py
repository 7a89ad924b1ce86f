"""Runs whose documents are judged by a model: every engine gives the same bytes, and nothing is measured twice."""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq
import pytest

pytest.importorskip("torch")

from tests.faults.on_ray import run_on_ray
from tests.faults.runs import SMALL_UNITS, command, events, kill_all, published, start
from tests.models.flamingo import tiny

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3000)]
FEW = ["dedup.buckets=3", "fetch.timeout_seconds=30", "reading.unit_bytes=60000"]
BOUNDS = "score.document={images_seen: {min: 3}, flamingo_loss: {sample: [[0, 0.6]]}}"
CPU_STAGES = ("extract", "dedup", "site", "fetch", "dedup-images", "assemble")


def finish(arguments: Sequence[str], proxy: str) -> tuple[int, str]:
    """Run to the end; the exit code and what was printed. Models take their time to load."""
    process = start(arguments, proxy)
    try:
        printed, _ = process.communicate(timeout=1400)
    except subprocess.TimeoutExpired:
        kill_all(process)
        raise
    return process.returncode, printed


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """A config with a tiny model; a number of threads that no machine lacks."""
    folder = tiny.saved(tmp_path_factory.mktemp("flamingo"))
    return [*FEW, f"score.flamingo.model={folder}", "score.threads=1", "score.flamingo.window_tokens=200",
            "score.flamingo.overlap=20", BOUNDS]  # fmt: skip


@pytest.fixture(scope="module")
def inputs(warcs: list[Path], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """One of the demo's files, and the same once more: every page of it has two captures."""
    again = tmp_path_factory.mktemp("again") / "demo-00002.warc.gz"
    shutil.copyfile(warcs[0], again)
    return [warcs[0], again]


@pytest.fixture(scope="module")
def whole(inputs: list[Path], proxy: str, sets: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An undisturbed run."""
    output = tmp_path_factory.mktemp("local") / "out"
    code, printed = finish(command(inputs, output, 1, sets), proxy)
    assert code == 0, printed
    return output


def redone(output: Path, seen: int) -> set[str]:
    return {str(event["stage"]) for event in events(output)[seen:] if event["event"] == "unit_done"}


def test_columns_are_in_the_index_and_bounds_dropped_by_them(whole: Path) -> None:
    ledgers = json.loads((whole / "manifest.json").read_text())["ledgers"]
    assert {"images_seen", "flamingo_loss"} <= set(ledgers["documents"]["dropped"])
    assert ledgers["images"]["dropped"]["document_dropped"] > 0
    for ledger in ledgers.values():
        assert ledger["in"] == ledger["kept"] + sum(ledger["dropped"].values()) + sum(ledger["failed"].values())
    index = pq.read_table(whole / "index.parquet").to_pylist()
    assert index
    assert min(row["images_seen"] for row in index) >= 3
    assert all(row["flamingo_loss"] > 0 and row["flamingo_image_gain"] != 0 for row in index)
    assert {row["flamingo_worse_than_unigram"] for row in index} == {None}


def test_two_processes_with_a_model_agree_with_one(
    inputs: list[Path], proxy: str, sets: list[str], whole: Path, tmp_path: Path
) -> None:
    code, printed = finish(command(inputs, tmp_path / "out", 2, [*sets, "score.workers=2"]), proxy)
    assert code == 0, printed
    assert published(tmp_path / "out") == published(whole)


@pytest.mark.by_hand
def test_ray_agrees(
    inputs: list[Path], proxy: str, sets: list[str], whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", proxy)  # nodes inherit it
    monkeypatch.setenv("no_proxy", "")
    code = run_on_ray(inputs, tmp_path / "out", sets)
    assert code == 0
    assert published(tmp_path / "out") == published(whole)


@pytest.mark.by_hand
def test_beam_agrees(inputs: list[Path], proxy: str, sets: list[str], whole: Path, tmp_path: Path) -> None:
    overrides = [x for value in (*SMALL_UNITS, *sets) for x in ("--set", value)]
    job = [sys.executable, "-m", "obelics_pipeline.beam_jobs.curate", "default", "--input", *map(str, inputs)]
    code, printed = finish([*job, "--output", str(tmp_path / "out"), *overrides], proxy)
    assert code == 0, printed
    assert published(tmp_path / "out") == published(whole)


def staged(inputs: Sequence[Path], output: Path, sets: Sequence[str], *stages: str) -> list[str]:
    return [*command(inputs, output, 1, sets), "--stage", *stages]


def test_the_stages_of_cpus_then_the_models_then_the_rest_give_the_same_and_a_kill_costs_nothing(
    inputs: list[Path], proxy: str, sets: list[str], whole: Path, tmp_path: Path
) -> None:
    output = tmp_path / "out"
    code, printed = finish(staged(inputs, output, sets, *CPU_STAGES), proxy)
    assert code == 0, printed
    assert not (output / "scores").exists()
    code, printed = finish(staged(inputs, output, sets, "shard"), proxy)
    assert code == 2
    assert "--stage: score has" in printed
    process = start(staged(inputs, output, sets, "score"), proxy)
    while process.poll() is None and len(list(output.glob("scores/manifests/*.json"))) < 1:
        time.sleep(0.02)
    assert process.poll() is None, process.communicate()
    kill_all(process)
    assert len(list(output.glob("scores/manifests/*.json"))) >= 1
    seen = len(events(output))
    code, printed = finish(staged(inputs, output, sets, "score"), proxy)
    assert code == 0, printed
    assert redone(output, seen) <= {"score", "decide"}
    assert not (output / "shards").exists()
    code, printed = finish(staged(inputs, output, sets, "shard"), proxy)
    assert code == 0, printed
    assert published(output) == published(whole)


def test_a_changed_bound_measures_nothing_and_the_next_of_a_group_takes_the_place_of_one_that_is_dropped(
    inputs: list[Path], proxy: str, sets: list[str], whole: Path, tmp_path: Path
) -> None:
    output = Path(shutil.copytree(whole, tmp_path / "out"))
    ids = {row["doc_id"] for row in pq.read_table(output / "index.parquet").to_pylist()}
    seen = len(events(output))
    free = [*(value for value in sets if value != BOUNDS), "score.document={}"]
    code, printed = finish(command(inputs, output, 1, free), proxy)
    assert code == 0, printed
    assert "score" not in redone(output, seen)
    assert {"decide", "shard"} <= redone(output, seen)
    without = {row["doc_id"] for row in pq.read_table(output / "index.parquet").to_pylist()}
    assert len(without) > len(ids)
    replaced = ids - without  # kept where the bounds drop the capture that is kept without them
    duplicates = pq.read_table(output / "duplicates.parquet").to_pylist()
    assert replaced
    assert replaced <= {row["doc_id"] for row in duplicates}


def test_a_model_that_does_not_load_is_told_of_before_a_page_is_read(
    inputs: list[Path], proxy: str, sets: list[str], tmp_path: Path
) -> None:
    [model] = [Path(value.partition("=")[2]) for value in sets if value.startswith("score.flamingo.model=")]
    spoilt = Path(shutil.copytree(model, tmp_path / "model"))
    with (spoilt / "checkpoint.safetensors").open("ab") as file:
        file.write(b"x")
    code, printed = finish(command(inputs, tmp_path / "out", 1, [*sets, f"score.flamingo.model={spoilt}"]), proxy)
    assert code == 2, printed
    assert "checkpoint.safetensors" in printed.strip().splitlines()[-1]
    assert not list((tmp_path / "out").glob("extract/*.parquet"))
