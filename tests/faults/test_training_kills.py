"""A training that is killed goes on as if it had not been: the same losses and gradient norms, bit for bit."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from obelics_pipeline.training.plan.plan_file import open_plan
from tests.training.train.trainable import (
    ROOT,
    command,
    curve,
    environment,
    ledger,
    lines,
    loss_tables,
    run,
    write_config,
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


def killed(config: str, output: Path, after_lines: int, patience: float) -> bool:
    """Start a training and kill its whole group once it has written so many more lines and `patience` has passed."""
    metrics = output / "metrics.jsonl"
    before = len(lines(output))
    process = subprocess.Popen(
        command(config, output), cwd=ROOT, env=environment(), start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        while process.poll() is None:
            if metrics.exists() and len(lines(output)) >= before + after_lines:
                time.sleep(patience)
                break
            time.sleep(0.01)
        return process.poll() is None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.mark.parametrize("tries", [5, pytest.param(20, marks=pytest.mark.by_hand)])
def test_kills_change_no_number(tries: int, training: tuple[Path, dict[str, Any]], undisturbed: Path) -> None:
    folder, config = training
    often = config | {"checkpoint": {"every_steps": 4}, "loader": {"workers": 1}}
    path = write_config(folder, often, "often.yaml")
    chance, output, kills = random.Random(7), folder / f"killed-{tries}", 0
    for _ in range(tries):
        # within the steps, a checkpoint, an evaluation, or the start: wherever the moment falls
        kills += killed(path, output, chance.choice((0, 1, 2, 3, 5)), chance.random() * 0.4)
    run(path, output)
    assert kills >= tries * 3 // 4, "the others came after the end"
    expected = curve(undisturbed)
    found = curve(output)
    assert found.keys() == expected.keys()
    for step, line in expected.items():
        assert found[step] == line, f"step {step}"


def test_documents_are_counted_once_on_the_final_line(training: tuple[Path, dict[str, Any]]) -> None:
    folder, config = training
    plan = open_plan(Path(config["plan"]))
    path = write_config(folder, config, "counted.yaml")
    output = folder / "counted"
    for after in (3, 12):
        assert killed(path, output, after, 0.05)
    run(path, output)
    begun = {e["attempt"]: e["from_step"] for e in ledger(output) if e["kind"] in ("start", "resume")}
    last = max(begun)
    spans: Counter[int] = Counter()
    for attempt in begun:
        until = min((begun[a] for a in begun if a > attempt), default=10**9)
        table = loss_tables(output, attempt) if list(output.glob(f"accounts/attempt-{attempt:05d}/*/[!.]*")) else None
        for step, span in zip(table["step"].to_pylist(), table["span"].to_pylist(), strict=True) if table else ():
            if step <= until:
                spans[span] += 1
    assert last == 3
    assert set(spans) == set(range(plan._spans.table.num_rows))
    assert set(spans.values()) == {1}


def test_a_stray_file_in_a_checkpoint_is_named_and_refused(training: tuple[Path, dict[str, Any]]) -> None:
    folder, config = training
    path = write_config(folder, config, "stray.yaml")
    output = folder / "stray"
    run(path, output, "--set", "steps=8")
    stray = output / "checkpoints" / "step-00000008" / "custom_checkpoint_0.pkl.orig"
    stray.write_bytes(b"")
    done = run(path, output, check=False)
    assert done.returncode == 2
    assert done.stderr.strip().endswith("it is not read") and stray.name in done.stderr


def test_a_flipped_bit_in_a_checkpoint_is_refused(training: tuple[Path, dict[str, Any]]) -> None:
    folder, config = training
    path = write_config(folder, config, "bit.yaml")
    output = folder / "bit"
    run(path, output, "--set", "steps=8")
    tensors = max((output / "checkpoints" / "step-00000008").rglob("*.safetensors"), key=lambda p: p.stat().st_size)
    data = bytearray(tensors.read_bytes())
    data[len(data) * 2 // 3] ^= 4
    tensors.write_bytes(bytes(data))
    done = run(path, output, check=False)
    assert done.returncode == 2
    assert tensors.name in done.stderr and "altered" in done.stderr


def test_an_interrupt_is_told_and_the_same_command_goes_on(
    training: tuple[Path, dict[str, Any]], undisturbed: Path
) -> None:
    folder, config = training
    path = write_config(folder, config, "interrupt.yaml")
    output = folder / "interrupted"
    process = subprocess.Popen(
        command(path, output), cwd=ROOT, env=environment(), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )
    while len(lines(output)) < 10:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=600)
    assert process.returncode == 3
    assert said.strip().splitlines()[-1] == "obelics: stopped; run the same command again to continue"
    assert ledger(output)[-1]["kind"] == "exit"
    run(path, output)
    assert curve(output) == curve(undisturbed)
    assert json.loads((output / "ledger.jsonl").read_text().splitlines()[-1])["kind"] == "stop"
