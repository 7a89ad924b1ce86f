"""Checkpoints are evaluated beside a training: each once, when it is whole, with whatever numbers it is in."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.training.experiments.evaluate.command import Wanted, evaluate_location
from obelics_pipeline.training.experiments.evaluate.source import sources
from tests.training.train.trainable import lines

SMALL: dict[str, Any] = {"rows": 2, "prompts": 2, "tokens": 4}


def silent(_: str) -> None: ...


def evaluated(output: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((output / name / "evaluation.json").read_text())
    return found


@pytest.fixture(scope="module")
def records(coloured: Path) -> Path:
    output = coloured / "records"
    wanted = Wanted(tasks=(coloured / "task",), prompts=4, tokens=8)
    assert evaluate_location(coloured / "run", coloured / "plan", output, wanted, silent) == 3
    return output


def test_every_checkpoint_is_evaluated_once_and_nothing_of_the_run_is_touched(coloured: Path, records: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in (coloured / "run").rglob("*")}
    assert evaluate_location(coloured / "run", coloured / "plan", records, Wanted(), silent) == 0
    assert sorted(path.name for path in records.iterdir()) == ["step-00000040", "step-00000080", "step-00000120"]
    assert {path: path.stat().st_mtime_ns for path in (coloured / "run").rglob("*")} == before


def test_it_has_the_losses_that_the_training_had(coloured: Path, records: Path) -> None:
    wanted = Wanted(rows=8, prompts=0)
    evaluate_location(coloured / "run", coloured / "plan", coloured / "eight", wanted, silent)
    of_training = json.loads((coloured / "run/evaluations.jsonl").read_text().splitlines()[-1])
    mine = evaluated(coloured / "eight", "step-00000120")["held_out"]
    for name, views in of_training["datasets"].items():
        assert mine[name]["loss"] == pytest.approx(views["loss"], rel=1e-5)


def test_shots_wordings_and_capabilities_are_told_apart(records: Path) -> None:
    task = evaluated(records, "step-00000120")["tasks"]["colours"]
    assert task["chance"] == 0.25
    for shots in ("0", "4", "8"):
        found = task["shots"][shots]
        assert len(found["templates"]) == 3
        assert found["spread"] == max(found["templates"]) - min(found["templates"])
        assert found["accuracy"] == found["capabilities"]["colour"] >= 0.75
    assert task["capabilities"] == ["colour", "caption"]
    assert not task["contamination"]["contaminated"]


def test_the_software_is_named_and_what_differs_from_the_training_is_said(
    coloured: Path, records: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from obelics_pipeline.training.experiments.evaluate import command

    found = evaluated(records, "step-00000120")
    assert "torch" in found["versions"] and found["other_versions"] == {}
    monkeypatch.setattr(command, "versions", lambda: found["versions"] | {"torch": "1.0"})
    said: list[str] = []
    evaluate_location(coloured / "run", coloured / "plan", tmp_path, Wanted(**SMALL), said.append)
    assert any(f"torch was {found['versions']['torch']} and is 1.0" in line for line in said)


def test_a_checkpoint_is_taken_up_once_it_is_whole_and_watching_ends_with_the_training(
    coloured: Path, tmp_path: Path
) -> None:
    run, output = tmp_path / "run", tmp_path / "out"
    first, second = "step-00000040", "step-00000080"
    (run / "checkpoints").mkdir(parents=True)
    shutil.copytree(coloured / "run/checkpoints" / first, run / "checkpoints" / first)
    (run / "ledger.jsonl").write_text('{"kind": "start"}\n')
    seen: list[list[str]] = []

    def sleep(_: float) -> None:
        """What the training does between two looks."""
        seen.append(sorted(path.name for path in output.iterdir()))
        target = run / "checkpoints" / second
        if len(seen) == 1:
            shutil.copytree(coloured / "run/checkpoints" / second, target)
            (target / "manifest.json").rename(tmp_path / "manifest.json")
        elif len(seen) == 2:
            (tmp_path / "manifest.json").rename(target / "manifest.json")
        else:
            (run / "ledger.jsonl").write_text('{"kind": "start"}\n{"kind": "stop"}\n')

    assert evaluate_location(run, coloured / "plan", output, Wanted(**SMALL), silent, watch=True, sleep=sleep) == 2
    assert seen == [[first], [first], [first, second]]


def test_a_checkpoint_that_the_training_removes_is_skipped_and_a_damaged_one_is_not(
    coloured: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    shutil.copytree(coloured / "run/checkpoints", run / "checkpoints")
    damaged = next((run / "checkpoints/step-00000080/tensors").glob("*.safetensors"))
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"\x00\x01"[: 1 + damaged.read_bytes()[-1] % 1])
    from obelics_pipeline.training.experiments.evaluate import command

    first = sources(run)[0]
    looked = iter([True])

    def removed(place: Path) -> list[Any]:
        found = sources(place)
        if next(looked, False):
            shutil.rmtree(first.path)
        return found

    monkeypatch.setattr(command, "sources", removed)
    said: list[str] = []
    with pytest.raises(UserError, match="step-00000080"):
        evaluate_location(run, coloured / "plan", tmp_path / "out", Wanted(**SMALL), said.append)
    assert any(first.name in line and "skipped" in line for line in said)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_a_model_in_any_type_of_numbers_is_evaluated(coloured: Path, tmp_path: Path, dtype: str, records: Path) -> None:
    from safetensors.torch import load_file, save_file

    shutil.copytree(coloured / "run/model", tmp_path / "model")
    weights = tmp_path / "model/trained.safetensors"
    save_file({name: w.to(getattr(torch, dtype)) for name, w in load_file(weights).items()}, weights)
    about = json.loads((tmp_path / "model/flamingo.json").read_text())
    about["sha256"] = hashlib.sha256(weights.read_bytes()).hexdigest()
    (tmp_path / "model/flamingo.json").write_text(json.dumps(about))
    evaluate_location(tmp_path / "model", coloured / "plan", tmp_path / "out", Wanted(), silent)
    rounded = evaluated(tmp_path / "out", "model")["held_out"]["telling"]["loss"]
    whole = evaluated(records, "step-00000120")["held_out"]["telling"]["loss"]
    assert rounded != whole
    assert rounded == pytest.approx(whole, rel=0.05)


def test_the_command_says_what_it_did(coloured: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = [str(coloured / "run/model"), "--plan", str(coloured / "plan"), "--output", str(tmp_path)]
    assert main(["evaluate", *place, "--rows", "2", "--prompts", "1"]) == 0
    assert capsys.readouterr().out.endswith(f"1 evaluated, in {tmp_path}\n")
    assert main(["evaluate", str(tmp_path), "--plan", str(coloured / "plan")]) == 2
    assert "neither a training" in capsys.readouterr().err


def test_what_images_tell_is_the_image_gain(coloured: Path, records: Path) -> None:
    """The loss of captions falls also where images say nothing of them; the image gain is what tells the two apart."""
    found = evaluated(records, "step-00000120")["held_out"]
    assert found["telling"]["image_gain"] > 0.1
    assert abs(found["silent"]["image_gain"]) < 0.05
    first = lines(coloured / "run")[0]["datasets"]["silent"]["loss"]
    assert found["silent"]["loss"] < first - 2
