"""Several processes (torchrun, gloo, FSDP2): the same rows in each step, nearly the same numbers, one set of files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from obelics_pipeline.models.packed_flamingo.saved import load
from obelics_pipeline.training.plan.plan_file import open_plan
from tests.training.train.trainable import curve, ledger, lines, loss_tables, run, write_config

pytestmark = pytest.mark.slow
Training = tuple[Path, dict[str, Any]]
CLOSE = 1e-5  # of a loss: sums are made in another order


@pytest.fixture(scope="module")
def of_two(training: Training) -> Path:
    folder, config = training
    run(write_config(folder, config), folder / "two", ranks=2)
    return folder / "two"


def rows_by_step(output: Path) -> dict[int, set[int]]:
    table = loss_tables(output)
    found: dict[int, set[int]] = {}
    for step, row in zip(table["step"].to_pylist(), table["row"].to_pylist(), strict=True):
        found.setdefault(step, set()).add(row)
    return found


def test_two_processes_read_the_rows_that_one_reads(undisturbed: Path, of_two: Path) -> None:
    assert rows_by_step(of_two) == rows_by_step(undisturbed)
    expected, found = curve(undisturbed), curve(of_two)
    for step, line in expected.items():
        for key in ("targets", "tokens", "images", "cursor", "rows", "lr"):
            assert found[step][key] == line[key]


def test_two_processes_have_the_losses_of_one(undisturbed: Path, of_two: Path) -> None:
    expected, found = curve(undisturbed), curve(of_two)
    for step in range(1, 11):  # before differences of the last bit have grown
        assert found[step]["loss"] == pytest.approx(expected[step]["loss"], abs=CLOSE)
        assert found[step]["grad_norm"] == pytest.approx(expected[step]["grad_norm"], rel=1e-4)
    last = max(expected)
    assert found[last]["loss"] == pytest.approx(expected[last]["loss"], abs=0.01)


def test_compiled_blocks_of_two_processes_have_the_losses_of_one(
    training: Training, undisturbed: Path, tmp_path: Path
) -> None:
    folder, config = training
    small = ("--set", "compile=true", "--set", "steps=8")
    run(write_config(folder, config), tmp_path / "compiled", *small, ranks=2, module="tests.training.train.traced")
    expected, found = curve(undisturbed), curve(tmp_path / "compiled")
    assert len(found) == 8
    for step, line in found.items():
        assert line["loss"] == pytest.approx(expected[step]["loss"], abs=CLOSE)
        assert line["grad_norm"] == pytest.approx(expected[step]["grad_norm"], rel=1e-4)


def test_groups_of_modules_have_the_same_norms(undisturbed: Path, of_two: Path) -> None:
    one, two = curve(undisturbed)[5], curve(of_two)[5]
    for kind in ("activations", "gradients"):
        assert one[kind].keys() == two[kind].keys()
    for name, norm in one["gradients"].items():
        assert two["gradients"][name] == pytest.approx(norm, rel=1e-3, abs=1e-7)


def test_each_process_writes_its_accounts_and_only_the_first_the_rest(of_two: Path) -> None:
    assert {p.parent.name for p in of_two.glob("accounts/*/*/*.parquet")} == {"rank-00000", "rank-00001"}
    assert {p.name for p in (of_two / "heartbeat").glob("*.json")} == {"rank-00000.json", "rank-00001.json"}
    steps = [line["step"] for line in lines(of_two)]
    assert steps == sorted(set(steps))
    assert load(of_two / "model").trainable()


@pytest.mark.parametrize(
    "ranks", [(1, 2, 1), pytest.param((2, 1, 2), marks=pytest.mark.by_hand)], ids=["1-2-1", "2-1-2"]
)
def test_processes_and_workers_may_change_at_a_restart(
    training: Training, undisturbed: Path, ranks: tuple[int, int, int]
) -> None:
    folder, config = training
    plan = open_plan(Path(config["plan"]))
    output = folder / f"restarted-{'-'.join(map(str, ranks))}"
    for number, steps, workers in zip(ranks, (8, 16, None), (0, 2, 1), strict=True):
        until = ("--set", f"steps={steps}") if steps else ()
        schedule = ("--set", f"schedule.steps={plan.steps}")
        run(write_config(folder, config), output, *until, *schedule, "--set", f"loader.workers={workers}", ranks=number)
    assert rows_by_step(output) == rows_by_step(undisturbed)
    spans = loss_tables(output)["span"].to_pylist()
    assert sorted(spans) == list(range(plan._spans.table.num_rows)), "none lost, none repeated"
    expected, found = curve(undisturbed), curve(output)
    for step in range(1, 11):
        assert found[step]["loss"] == pytest.approx(expected[step]["loss"], abs=CLOSE)
    assert [e["kind"] for e in ledger(output) if e["kind"] in ("start", "resume")] == ["start", "resume", "resume"]


def test_two_processes_go_on_bit_for_bit(training: Training, of_two: Path) -> None:
    folder, config = training
    output = folder / "two-again"
    plan = open_plan(Path(config["plan"]))
    path = write_config(folder, config)
    run(path, output, "--set", "steps=12", "--set", f"schedule.steps={plan.steps}", ranks=2)
    run(path, output, "--set", f"schedule.steps={plan.steps}", ranks=2)
    assert curve(output) == curve(of_two)


def test_under_bfloat16_sums_are_float32(training: Training) -> None:
    folder, config = training
    output = folder / "bfloat16"
    run(
        write_config(folder, config),
        output,
        "--set",
        "precision=bfloat16",
        "--set",
        "steps=12",
        "--set",
        "schedule.steps=60",
        ranks=2,
    )
    losses = {line["loss"] for line in lines(output)}
    assert len(losses) == 12
    assert all(value != round(value * 128) / 128 for value in losses), "not rounded to bfloat16"
