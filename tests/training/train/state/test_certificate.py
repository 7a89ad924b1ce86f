from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.training.train.state.certificate import Certificate, Now, certificate
from obelics_pipeline.training.train.state.ledger import Ledger
from obelics_pipeline.training.train.state.saved import Loaded, SavedState
from obelics_pipeline.training.train.state.schedule import ScheduleSection, lr

SCHEDULE = ScheduleSection(peak=1e-3, warmup_steps=10, steps=1000)
CONFIG = {"optimiser": {"beta2": 0.95}, "log": {"every": 1}}
HYPER = {"class": "AdamW", "beta1": 0.9, "beta2": 0.95, "eps": 1e-8, "foreach": None}


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.append("start", attempt=1, step=0)
    ledger.append("lr", attempt=1, step=150, why="it spikes", factor=0.75, at=160)
    return ledger


def saved(**values: Any) -> SavedState:
    common = {
        "step": 250, "cursor": 2000, "attempt": 1, "skipped_updates": 2, "lr": 0.75 * lr(250, SCHEDULE),
        "weight_decay": 0.1, "seed": 7, "plan_id": "a-plan", "config": CONFIG,
        "versions": {"torch": "2.13.0"}, "frozen": "f0", "world_size": 2, "optimiser_steps": 248, "tensors": {},
        "moments": (), "hyper": HYPER, "parameters_fingerprint": "a1", "moments_fingerprint": "b2", "ledger_bytes": 10,
    }  # fmt: skip
    return SavedState(**{**common, **values})


LOADED = Loaded(saved(), "a1", "b2", 248, HYPER)


@pytest.fixture
def now(ledger: Ledger) -> Now:
    return Now(
        "step-00000250",
        cursor=2000,
        seed=7,
        plan_id="a-plan",
        config={"optimiser": {"beta2": 0.95}, "log": {"every": 1}},
        versions={"torch": "2.13.0"},
        schedule=SCHEDULE,
        entries=ledger.entries,
        ranks=2,
        frozen="f0",
        ledger_bytes=400,
        recorded={"step": 250, "cursor": 1992, "rows": 8, "lr": 0.75 * lr(250, SCHEDULE)},
    )


def levels(made: Certificate) -> dict[str, str]:
    return {line.name: line.level for line in made.lines if line.level != "ok"}


def test_what_goes_on_as_it_was_is_certified_in_about_ten_lines(now: Now) -> None:
    made = certificate(LOADED, now)
    made.refuse()
    assert levels(made) == {}
    assert 8 <= len(str(made).splitlines()) <= 14
    assert "it spikes" in str(made)


@pytest.mark.parametrize(
    ("name", "loaded"),
    [
        ("weights", replace(LOADED, parameters_fingerprint="a2")),
        ("moments", replace(LOADED, moments_fingerprint="b3")),
        ("step", replace(LOADED, optimiser_steps=249)),
        ("step", replace(LOADED, saved=saved(skipped_updates=1))),
        ("optimiser", replace(LOADED, hyper={**HYPER, "beta1": 0.0})),
        ("learning rate", replace(LOADED, saved=saved(lr=lr(250, SCHEDULE)))),
        ("learning rate", replace(LOADED, saved=saved(weight_decay=0.2))),
    ],
)
def test_each_part_that_was_not_restored_refuses_the_resume(now: Now, name: str, loaded: Loaded) -> None:
    made = certificate(loaded, now)
    assert levels(made) == {name: "RED"}
    with pytest.raises(UserError, match=f"step-00000250: not resumed, .*{name}: ") as refusal:
        made.refuse()
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("cursor", {"cursor": 2008}),
        ("cursor", {"recorded": {"cursor": 2000, "rows": 8}}),
        ("seed", {"seed": 8}),
        ("plan", {"plan_id": "another"}),
        ("frozen", {"frozen": "f1"}),
        ("config", {"config": {"optimiser": {"beta2": 0.98}, "log": {"every": 1}}}),
        ("ledger", {"ledger_bytes": 9}),
        ("learning rate", {"recorded": {"cursor": 1992, "rows": 8, "lr": 1e-9}}),
        ("learning rate", {"schedule": SCHEDULE.model_copy(update={"peak": 2e-3})}),
        ("learning rate", {"entries": ()}),
    ],
)
def test_each_part_that_is_another_now_refuses_the_resume(now: Now, name: str, change: dict) -> None:
    assert levels(certificate(LOADED, replace(now, **change))) == {name: "RED"}


def test_a_learning_rate_that_starts_from_scratch_is_refused(now: Now) -> None:
    """What happened to the 80B run: the resumed run began its warm-up again, and nobody noticed for two runs."""
    restarted = replace(now, schedule=SCHEDULE.model_copy(update={"warmup_steps": 900}))
    with pytest.raises(UserError, match=r"step 250 had 0.00065676 by the checkpoint, and has 0.000208333"):
        certificate(LOADED, restarted).refuse()


def test_a_ledger_whose_factor_was_edited_is_refused(now: Now, tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    path.write_text(path.read_text().replace("0.75", "0.85"))
    assert levels(certificate(LOADED, replace(now, entries=Ledger(path).entries))) == {"learning rate": "RED"}


def test_a_change_that_begins_after_the_checkpoint_is_no_break(now: Now, ledger: Ledger) -> None:
    ledger.append("lr", attempt=1, step=250, factor=0.5, at=251)
    made = certificate(LOADED, replace(now, entries=ledger.entries))
    assert levels(made) == {}
    assert f"then {0.375 * lr(251, SCHEDULE):.6g}" in str(made)


def test_a_change_of_the_config_is_let_through_where_the_ledger_has_it(now: Now, ledger: Ledger) -> None:
    ledger.append("config", attempt=1, step=250, key="optimiser.beta2", value=0.98, at=251)
    loaded = replace(LOADED, hyper={**HYPER, "beta2": 0.98})
    config = {"optimiser": {"beta2": 0.98}, "log": {"every": 1}}
    made = certificate(loaded, replace(now, config=config, entries=ledger.entries))
    made.refuse()
    assert levels(made) == {"optimiser": "look", "config": "look"}
    other = certificate(replace(loaded, hyper={**HYPER, "beta2": 0.97}), replace(now, entries=ledger.entries))
    assert levels(other) == {"optimiser": "RED"}
    ledger.append("undo", attempt=1, step=250, of=3)
    undone = certificate(loaded, replace(now, config=config, entries=ledger.entries))
    assert levels(undone) == {"optimiser": "RED", "config": "RED"}


def test_keys_that_change_no_figure_may_change(now: Now) -> None:
    change = {"config": {"optimiser": {"beta2": 0.95}, "log": {"every": 5}}, "may_change": ("log.*",)}
    made = certificate(LOADED, replace(now, **change))
    assert levels(made) == {"config": "look"}
    assert "log.every was 1 and is 5" in str(made)


def test_other_versions_machines_and_process_counts_are_lines_to_look_at(now: Now) -> None:
    loaded = replace(LOADED, hyper={**HYPER, "foreach": True})
    made = certificate(loaded, replace(now, versions={"torch": "2.14.0"}, ranks=4))
    made.refuse()
    assert levels(made) == {"optimiser": "look", "versions": "look", "processes": "look"}
    assert "torch was 2.13.0 and is 2.14.0" in str(made)
    assert "2 became 4" in str(made)


def test_a_run_that_resumes_at_step_0_has_no_rate_to_compare(now: Now) -> None:
    loaded = replace(
        LOADED, saved=saved(step=0, cursor=0, skipped_updates=0, optimiser_steps=0, lr=0), optimiser_steps=0
    )
    assert levels(certificate(loaded, replace(now, cursor=0, recorded=None))) == {}
