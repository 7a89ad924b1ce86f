"""`obelics demo --train`: the spike, what the guard did, the page first; and the same again trains nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from obelics_pipeline.core.config.yaml_file import bundled_configs, read_config, read_values
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.demo import training
from obelics_pipeline.demo.training import TrainingDemo, config_of, lines_of_acts, recipe_of, spike_of, train_demo
from obelics_pipeline.demo.unfiltered import URL
from obelics_pipeline.training.experiments.ablate.experiment import load_experiment
from obelics_pipeline.training.plan.recipe import Recipe, load_recipe
from obelics_pipeline.training.train.config import TrainConfig

TRAINING = bundled_configs() / "training"
LOADERS: dict[str, Callable[[], object]] = {
    "ablate-filters": lambda: load_experiment("ablate-filters"),
    "ablate-orders": lambda: load_experiment("ablate-orders"),
    "ablate-settings": lambda: load_experiment("ablate-settings"),
    "plan": lambda: load_recipe(str(TRAINING / "plan.yaml")),
    "flamingo": lambda: flamingo(),
}


def flamingo() -> TrainConfig:
    return read_config(TrainConfig, "flamingo", (), TRAINING)


@pytest.mark.parametrize("name", sorted(path.stem for path in TRAINING.glob("*.yaml")))
def test_every_bundled_config_of_a_training_is_read_with_its_model(name: str) -> None:
    assert LOADERS[name]()


def keys(values: dict[str, Any], before: str = "") -> set[str]:
    return {
        key
        for name, value in values.items()
        for key in (keys(value, f"{before}{name}.") if isinstance(value, dict) and value else {f"{before}{name}"})
    }


def test_the_bundled_config_names_every_key_with_the_value_it_has_by_itself() -> None:
    written = read_values(TRAINING / "flamingo.yaml", [])
    known = flamingo().model_dump(mode="json")
    assert keys(known) - keys(written) == {"model.seed"}  # the training's own seed takes its place
    least = {"plan": "", "model": {"language_model": "", "vision": ""}}
    by_itself = TrainConfig.model_validate(least).model_dump(mode="json")
    for name in set(known) - {"plan", "model"}:
        assert known[name] == by_itself[name], name
    text = (TRAINING / "flamingo.yaml").read_text()
    for name in ("cross_every", "dtype"):
        line = next(line for line in text.splitlines() if line.strip().startswith(f"{name}:"))
        assert f"default: {by_itself['model'][name]}" in line
    others = set(by_itself["model"]) - {"language_model", "vision", "cross_every", "dtype"}
    assert {name: known["model"][name] for name in others} == {name: by_itself["model"][name] for name in others}


def test_what_the_demo_writes_is_a_recipe_and_a_config(tmp_path: Path) -> None:
    demo = TrainingDemo(tmp_path)
    recipe = Recipe.model_validate(yaml.safe_load(yaml.safe_dump(recipe_of(demo))))
    assert recipe.datasets["board"].repeat == 1
    assert TrainConfig.model_validate(config_of(demo)).guard.enabled


def test_a_missing_package_is_named_before_anything_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "NEEDED", ("json", "a_package_that_is_not_there"))
    with pytest.raises(UserError, match=r"a_package_that_is_not_there: pip install .*make train-demo"):
        train_demo(tmp_path / "demo")
    assert not (tmp_path / "demo").exists()


def entry(kind: str, step: int, why: str = "", **more: Any) -> dict[str, Any]:
    return {"kind": kind, "step": step, "why": why, **more}


def test_the_spike_is_where_the_guards_first_act_began() -> None:
    assert spike_of([entry("start", 0), entry("alarm", 7), entry("stop", 9)]) is None
    assert spike_of([entry("start", 0), entry("skip_update", 8, "far out"), entry("wait", 8)]) == 8
    back = entry("rollback", 90, "not returned", evidence={"evidence": {"earliest_alarm": 8}})
    assert spike_of([entry("start", 0), back]) == 8


def test_what_happened_is_told_in_the_order_of_the_ledger() -> None:
    metrics = [{"step": n, "loss": 4.0} for n in range(1, 8)] + [{"step": 8, "loss": 7.5}]
    ledger = [entry("checkpoint", 5), entry("skip_update", 8, "too far"), entry("stop", 9, reason="the end")]
    assert [line.split(maxsplit=2) for line in lines_of_acts(ledger, metrics, 8)] == [
        ["step", "8", "loss 7.50, where the 50 steps before it had 4.00"],
        ["step", "8", "guard: too far"],
        ["step", "9", "the end"],
    ]


@pytest.mark.slow
def test_the_training_spikes_the_guard_acts_and_the_page_is_named_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in training.NEEDED:
        pytest.importorskip(name)
    from obelics_pipeline.training.diagnosis.loss_diagnosis import explain_spike
    from obelics_pipeline.training.diagnosis.training_run import TrainingRun
    from obelics_pipeline.training.plan.command import plan
    from obelics_pipeline.training.plan.plan_file import open_plan

    assert train_demo(tmp_path) == 0
    shown = capsys.readouterr().out
    demo = TrainingDemo(tmp_path)
    ledger = training.ledger_of(demo)
    spike = spike_of(ledger)
    assert spike == training.step_of_page(demo)
    acts = [one for one in ledger if one["kind"] in ("skip_update", "wait", "rollback")]
    assert acts[0]["step"] == spike
    assert acts[0]["why"] in shown

    diagnosis = explain_spike(TrainingRun(demo.run), spike, pictures=False)
    first = diagnosis.suspects[0]
    assert first.document.url == URL
    assert diagnosis.verdict.cause == "data"
    assert {"stopword_ratio", "language_score"} <= {bound.bound.score for bound in first.bounds}
    assert shown.index(f"obelics explain-spike {demo.run} {spike}") < shown.index(URL)
    assert "would have removed 1 of 1" in shown
    assert (demo.folder / "without.txt").read_text().split() == [first.document.doc_id]

    better = demo.folder / "plan-without"
    plan(str(demo.recipe), better, without=(str(demo.folder / "without.txt"),), say=lambda line: None)
    assert open_plan(better).n_rows == open_plan(demo.plan).n_rows - 1

    before = (demo.run / "ledger.jsonl").read_bytes()
    assert train_demo(tmp_path) == 0
    again = capsys.readouterr().out
    assert "trained already" in again
    assert again.partition("what happened")[2] == shown.partition("what happened")[2]
    assert (demo.run / "ledger.jsonl").read_bytes() == before
