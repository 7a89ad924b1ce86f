"""Whole experiments with small models: what is written, and that a kill changes nothing."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("torch")
pytest.importorskip("transformers")

from tests.training.experiments.ablate.experiments import make_runs, values_of
from tests.training.train.trainable import ROOT, curve, environment

ARMS = {"whole": {"order": "1234"}, "parted": {"order": "1_2_3_4"}, "again": {"order": "1_1_1_1"}}


def write(folder: Path, **more: Any) -> Path:
    values = values_of(*make_runs(folder), **more)
    path = folder / "experiment.yaml"
    path.write_text(yaml.safe_dump(values))
    return path


def command(path: Path, output: Path, *more: str) -> list[str]:
    start = [sys.executable, "-m", "obelics_pipeline", "ablate", str(path), "--output", str(output), "--workers", "1"]
    return [*start, *more]


def ablate(path: Path, output: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(path, output, *more), capture_output=True, text=True, env=environment(), cwd=ROOT)


def result(output: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((output / "ablation.json").read_text())
    return found


@pytest.mark.slow
def test_arms_are_trained_measured_and_compared(tmp_path: Path) -> None:
    path, output = write(tmp_path), tmp_path / "out"
    done = ablate(path, output)
    assert done.returncode == 0, done.stdout + done.stderr
    told = result(output)
    order = [(one["arm"], one["seed"]) for one in told["trainings"]]
    assert order == [("all", 0), ("all", 1), ("long", 0), ("long", 1)]
    losses = {(one["arm"], one["seed"]): one["figures"]["held-out loss"] for one in told["trainings"]}
    assert len(set(losses.values())) == 4
    first = [curve(output / "arms" / arm / "seed-0" / "run")[1] for arm in ("all", "long")]
    assert first[0]["cursor"] == first[1]["cursor"] == 0
    compared = next(one for one in told["compared"] if one["figure"] == "held-out loss")
    assert compared["difference"]["mean"] == pytest.approx(
        sum(losses["long", seed] - losses["all", seed] for seed in (0, 1)) / 2
    )
    for name in ("ablation.md", "ablation.html"):
        assert "What these seeds can show" in (output / name).read_text()
    assert (output / "arms/all/seed-0/run/chronicle/chronicle.md").is_file()

    again = ablate(path, output)  # nothing is left to do
    assert again.returncode == 0 and "steps in" not in again.stdout
    assert result(output) == told

    other = ablate(path, output, "--set", "training.schedule.peak=0.1")
    assert other.returncode == 2 and "was trained with another config or plan" in other.stderr
    assert other.stderr.count("\n") == 1

    begun = values_of()["training"] | {"start_from": str(output / "arms/all/seed-0/run/model")}
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | {"training": begun, "seeds": [0]}))
    third = ablate(path, tmp_path / "third")  # from the weights of another training: its first step is no beginner's
    assert third.returncode == 0, third.stdout + third.stderr
    later = curve(tmp_path / "third/arms/all/seed-0/run")[1]["loss"]
    assert later < first[0]["loss"] - 0.5


@pytest.mark.slow
def test_restarts_change_nothing_and_a_killed_experiment_goes_on(tmp_path: Path) -> None:
    path, output = write(tmp_path, arms=ARMS, seeds=[0]), tmp_path / "out"
    with subprocess.Popen(
        command(path, output), stdout=subprocess.DEVNULL, env=environment(), cwd=ROOT, start_new_session=True
    ) as process:
        metrics = output / "arms/parted/seed-0/run/metrics.jsonl"
        while not metrics.exists() and process.poll() is None:
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGKILL)
    done = ablate(path, output)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 of 3, whole, seed 0: 1" not in done.stdout  # a finished training is not done again
    whole, parted, again = (curve(output / "arms" / name / "seed-0/run") for name in ARMS)
    assert whole == parted
    assert len(again) == len(whole) and again != whole
    told = result(output)
    assert "to the last bit" in told["restarts"][0]
    assert {one["arm"]: one["restarts"] for one in told["trainings"]}["parted"] >= 3


@pytest.mark.slow
def test_a_failed_arm_is_told_and_the_others_are_trained(tmp_path: Path) -> None:
    arms = {"all": {}, "bad": {"training": {"start_from": str(tmp_path / "nowhere")}}}
    done = ablate(write(tmp_path, arms=arms, seeds=[0]), tmp_path / "out")
    assert done.returncode == 1
    told = result(tmp_path / "out")
    assert [one["arm"] for one in told["trainings"]] == ["all"]
    assert "flamingo.json cannot be read" in told["failed"]["bad, seed 0"]
    assert "bad, seed 0" in (tmp_path / "out/ablation.md").read_text()


@pytest.mark.slow
def test_two_at_once_are_refused(tmp_path: Path) -> None:
    import fcntl

    (tmp_path / "out").mkdir()
    with (tmp_path / "out/.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = ablate(write(tmp_path), tmp_path / "out")
    assert done.returncode == 2
    assert "is at work there" in done.stderr and done.stderr.count("\n") == 1
