from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")


from safetensors.torch import load_file

from obelics_pipeline.models.packed_flamingo.saved import load
from obelics_pipeline.models.packed_flamingo.tiny import tiny
from obelics_pipeline.training.plan.plan_file import open_plan
from obelics_pipeline.training.train.state.kept import checkpoints
from tests.training.train.trainable import curve, ledger, lines, loss_tables, run, write_config

Training = tuple[Path, dict[str, Any]]
STEPS = 60  # of a schedule, where a training is stopped before


def test_every_step_of_the_plan_is_made_and_written_down(training: Training, undisturbed: Path) -> None:
    plan = open_plan(Path(training[1]["plan"]))
    found = lines(undisturbed)
    assert [line["step"] for line in found] == list(range(1, plan.steps + 1))
    assert sum(line["rows"] for line in found) == plan.n_rows
    assert all(line["applied"] for line in found)
    assert set(found[0]["datasets"]) <= {"web", "wiki"}


def test_the_loss_falls_and_is_told_for_each_data_set(undisturbed: Path) -> None:
    found = lines(undisturbed)
    assert found[-1]["loss"] < found[0]["loss"] - 1
    for line in found:
        parts = line["datasets"].values()
        assert line["targets"] == sum(part["targets"] for part in parts)
        assert line["loss"] == pytest.approx(sum(p["loss"] * p["targets"] for p in parts) / line["targets"])


def test_the_accounts_have_every_span_once_and_sum_to_the_loss(training: Training, undisturbed: Path) -> None:
    plan = open_plan(Path(training[1]["plan"]))
    table = loss_tables(undisturbed)
    spans = sorted(table["span"].to_pylist())
    assert spans == list(range(plan._spans.table.num_rows))
    for line in lines(undisturbed):
        of_step = table.filter(__import__("pyarrow.compute").compute.equal(table["step"], line["step"]))
        targets = sum(of_step["n_targets"].to_pylist())
        assert targets == line["targets"]
        assert sum(of_step["loss_sum"].to_pylist()) / targets == pytest.approx(line["loss"], rel=1e-5)
        for span, document in zip(of_step["span"].to_pylist(), of_step["document"].to_pylist(), strict=True):
            assert plan.span(span).document == document


def test_on_sampled_steps_the_inside_is_measured(undisturbed: Path) -> None:
    found = {line["step"]: line for line in lines(undisturbed)}
    sampled, other = found[5], found[6]
    assert {"0.q", "0.fc2", "0.lm_q", "0.gate"} <= set(sampled["activations"])
    assert sampled["gradients"].keys() and sampled["updates"].keys() and sampled["gates"].keys()
    assert "activations" not in other
    whole = sum(norm**2 for norm in sampled["gradients"].values()) ** 0.5
    assert whole == pytest.approx(sampled["grad_norm"], rel=1e-5)


def test_held_out_documents_are_evaluated_at_every_checkpoint(undisturbed: Path) -> None:
    evaluations = [json.loads(line) for line in (undisturbed / "evaluations.jsonl").read_text().splitlines()]
    checkpoints = [entry["step"] for entry in ledger(undisturbed) if entry["kind"] == "checkpoint" and entry["step"]]
    assert [line["step"] for line in evaluations] == checkpoints
    first, last = evaluations[0]["datasets"]["web"], evaluations[-1]["datasets"]["web"]
    assert last["loss"] < first["loss"]
    assert last["image_gain"] == pytest.approx(last["other_images"] - last["loss"])


def test_the_trained_model_loads_and_has_the_weights_of_the_end(training: Training, undisturbed: Path) -> None:
    found = {name: parameter.detach() for name, parameter in load(undisturbed / "model").trainable().items()}
    last = checkpoints(undisturbed / "checkpoints")[-1].path / "tensors"
    written = {name: value for file in last.glob("*-model-*.safetensors") for name, value in load_file(file).items()}
    assert found.keys() and all(torch.equal(value, written[name]) for name, value in found.items())


def test_a_second_training_has_the_same_numbers_to_the_bit(training: Training, undisturbed: Path) -> None:
    folder, config = training
    run(write_config(folder, config), folder / "again")
    assert curve(folder / "again") == curve(undisturbed)


def test_a_training_that_was_tried_for_some_steps_goes_on_as_if_it_had_not_been(
    training: Training, undisturbed: Path
) -> None:
    folder, config = training
    run(write_config(folder, config), folder / "tried", "--set", "steps=11")
    run(write_config(folder, config), folder / "tried")
    assert curve(folder / "tried") == curve(undisturbed)


def test_workers_change_no_number(training: Training, undisturbed: Path) -> None:
    folder, config = training
    run(write_config(folder, config), folder / "workers", "--set", "loader.workers=2")
    assert curve(folder / "workers") == curve(undisturbed)


def test_a_training_that_is_done_does_nothing_more(training: Training, undisturbed: Path) -> None:
    folder, config = training
    before = lines(undisturbed)
    done = run(write_config(folder, config), undisturbed)
    assert lines(undisturbed) == before
    assert "RED" not in done.stdout


def test_another_plan_in_the_same_folder_is_refused_in_one_line(
    training: Training, undisturbed: Path, tmp_path: Path
) -> None:
    from tests.training.train.trainable import make_training

    other = make_training(tmp_path / "other", documents=12)
    done = run(write_config(tmp_path, other), undisturbed, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("obelics: ") and done.stderr.count("\n") == 1 and "plan" in done.stderr


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("schedule.peak", "0.01"),
        ("schedule.steps", "30"),
        ("optimizer.beta1", "0.5"),
        ("loss.z_weight", "0.1"),
        ("seed", "5"),
    ],
)
def test_a_resume_with_another_config_is_refused(
    training: Training, key: str, value: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder, config = training
    output = folder / "short"
    if not output.exists():
        run(write_config(folder, config), output, "--set", "steps=8", "--set", f"schedule.steps={STEPS}")
    changed = ("--set", "steps=16", "--set", f"schedule.steps={STEPS}", "--set", f"{key}={value}")
    before = (output / "config.yaml").read_bytes()
    done = run(write_config(folder, config), output, *changed, check=False)
    assert done.returncode == 2
    assert (output / "config.yaml").read_bytes() == before
    assert key.rpartition(".")[2] in done.stderr


def test_a_plan_of_another_tokenizer_is_refused_before_anything_is_read(training: Training, tmp_path: Path) -> None:
    language_model, _ = tiny(tmp_path, ["Other words, and more of them, for another tokenizer."] * 20, words=300)
    model = training[1]["model"] | {"language_model": str(language_model)}
    done = run(write_config(tmp_path, training[1] | {"model": model}), tmp_path / "run", check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("obelics: plan: ") and "whose words is 320" in done.stderr


def test_the_share_of_each_data_set_that_was_read_is_told(training: Training, undisturbed: Path) -> None:
    plan = open_plan(Path(training[1]["plan"]))
    epochs = {line["step"]: line["datasets"] for line in lines(undisturbed)}
    for about in plan.about["datasets"]:
        found = [parts[about["name"]]["epoch"] for _, parts in sorted(epochs.items()) if about["name"] in parts]
        assert found == sorted(found)
        assert found[-1] == pytest.approx(about["epochs"], rel=0.1)  # tokens that lead a span count too


def test_a_ledger_that_is_lost_comes_back_from_the_checkpoint(training: Training) -> None:
    folder, config = training
    output = folder / "lost"
    stop = ("--set", "schedule.steps=60")
    run(write_config(folder, config), output, "--set", "steps=8", *stop)
    (output / "ledger.jsonl").unlink()
    (output / "metrics.jsonl").unlink()
    run(write_config(folder, config), output, "--set", "steps=10", *stop)
    assert [line["step"] for line in lines(output)] == list(range(1, 11))
    assert [e["kind"] for e in ledger(output)][:2] == ["start", "checkpoint"]


def test_a_person_lowers_the_rate_skips_rows_and_goes_back(training: Training) -> None:
    from obelics_pipeline.cli.main import main

    folder, config = training
    output = folder / "changed"
    stop = ("--set", "schedule.steps=60")
    run(write_config(folder, config), output, "--set", "steps=8", *stop)
    assert main(["intervene", str(output), "lr", "--factor", "0.5", "--at", "10", "--reason", "a test"]) == 0
    assert main(["intervene", str(output), "skip-rows", "40:48", "--reason", "a test"]) == 0
    run(write_config(folder, config), output, "--set", "steps=16", *stop)
    found = {line["step"]: line for line in lines(output)}
    assert found[9]["lr_factor"] == 1.0 and found[10]["lr_factor"] == 0.5
    rows = set(loss_tables(output)["row"].to_pylist())
    assert not rows & set(range(40, 48)) and set(range(32, 40)) <= rows
    assert main(["intervene", str(output), "rollback", "8", "--reason", "a test"]) == 0
    run(write_config(folder, config), output, "--set", "steps=12", *stop)
    assert [e["kind"] for e in ledger(output)].count("rollback") == 1
    assert lines(output)[-1]["step"] == 12 and lines(output)[-1]["attempt"] > found[16]["attempt"]
