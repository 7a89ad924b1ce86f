import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.training.train.state import kept
from obelics_pipeline.training.train.state.ledger import Ledger
from obelics_pipeline.training.train.state.lineage import Lineage
from obelics_pipeline.training.train.state.manifest import write_manifest
from obelics_pipeline.training.train.state.saved import Progress, SavedState, differences, versions

STATE = {
    "lr": 0.01, "seed": 7, "plan_id": "a-plan", "config": {}, "versions": {}, "world_size": 1, "tensors": {},
    "moments": (), "hyper": {}, "parameters_fingerprint": "", "moments_fingerprint": "",
}  # fmt: skip


def put(folder: Path, step: int, attempt: int) -> Path:
    path = folder / kept.name_of(step)
    path.mkdir(parents=True)
    state = SavedState(step=step, cursor=step * 8, attempt=attempt, optimiser_steps=step, **STATE)
    (path / "state.json").write_text(state.model_dump_json())
    write_manifest(path)
    return path


@pytest.fixture
def lineage(tmp_path: Path) -> Lineage:
    """Attempt 1 did 1 to 400; attempt 2 went back to 200."""
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.append("start", attempt=1, step=0)
    ledger.append("rollback", attempt=2, step=400, parent=1, from_step=200, to_step=200, cursor=1600)
    return Lineage(ledger.entries)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "checkpoints"
    for step in (0, 100, 200, 300, 400):
        put(folder, step, attempt=1)
    return folder


def test_a_run_goes_on_from_the_last_checkpoint_that_was_not_rolled_back(folder: Path, lineage: Lineage) -> None:
    found = kept.to_resume(folder, lineage)
    assert found is not None
    assert (found.step, found.attempt) == (200, 1)
    put(folder, 250, attempt=2)
    assert kept.to_resume(folder, lineage).path.name == "step-00000250"


def test_any_kept_step_of_the_line_can_be_gone_back_to(folder: Path, lineage: Lineage) -> None:
    assert kept.to_resume(folder, lineage, 100).step == 100
    with pytest.raises(UserError, match="no checkpoint of step 300 on the run's line; there are: 0, 100, 200"):
        kept.to_resume(folder, lineage, 300)
    assert kept.to_resume(folder / "nowhere", lineage) is None


def test_the_last_good_checkpoint_is_before_the_first_sign(folder: Path, lineage: Lineage) -> None:
    assert kept.before(folder, lineage, 150).step == 100
    assert kept.before(folder, lineage, 100).step == 0
    assert kept.before(folder, lineage, 0) is None


@given(st.sets(st.integers(0, 200)), st.integers(1, 5), st.integers(1, 50), st.lists(st.integers(0, 200), max_size=2))
def test_retention_keeps_the_last_each_nth_and_one_from_before_each_sign(
    steps: set[int], last: int, every: int, signs: list[int]
) -> None:
    stay = kept.keep(steps, last, every, signs)
    assert stay <= steps
    assert set(sorted(steps)[-last:]) <= stay
    assert {step for step in steps if step % every == 0} <= stay
    for sign in signs:
        good = {step for step in steps if step < sign}
        assert not good or max(good) in stay
    assert len(stay) <= last + len({step for step in steps if step % every == 0}) + len(signs)


def test_what_may_go_goes_and_what_was_rolled_back_waits_until_it_is_passed(folder: Path, lineage: Lineage) -> None:
    gone = kept.retain(folder, lineage, last=1, signs=[150])
    assert [path.name for path in gone] == ["step-00000000"]
    put(folder, 350, attempt=2)
    gone = kept.retain(folder, lineage, last=1, every=200)
    assert [path.name for path in gone] == ["step-00000100", "step-00000300"]
    assert sorted(path.name for path in folder.iterdir()) == ["step-00000200", "step-00000350", "step-00000400"]


def test_after_a_kill_drafts_go_and_a_checkpoint_without_its_successor_comes_back(folder: Path) -> None:
    (folder / ".draft-step-00000500").mkdir()
    (folder / "step-00000100").rename(folder / ".old-step-00000100")
    (folder / ".old-step-00000050").mkdir()  # was being removed
    put(folder / "elsewhere", 200, attempt=7).rename(folder / ".old-step-00000200")
    (folder / "elsewhere").rmdir()
    said = kept.sweep(folder)
    assert [line.rpartition(": ")[2] for line in said] == [
        "half written, removed", "replaced, removed", "put back", "replaced, removed",
    ]  # fmt: skip
    assert {found.attempt for found in kept.checkpoints(folder)} == {1}
    assert [path.name for path in sorted(folder.iterdir())] == [kept.name_of(step) for step in (0, 100, 200, 300, 400)]


def test_a_folder_without_its_manifest_is_no_checkpoint(folder: Path, lineage: Lineage) -> None:
    (folder / "step-00000200" / "manifest.json").unlink()
    (folder / "step-7").mkdir()
    assert kept.to_resume(folder, lineage).step == 100


def test_a_state_of_another_version_is_refused_in_one_line(folder: Path, lineage: Lineage) -> None:
    path = folder / "step-00000100" / "state.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "scheduler": {"last_epoch": 3}}))
    with pytest.raises(UserError, match=r"state.json: scheduler: Extra inputs are not permitted; it was written by"):
        kept.on_line(folder, lineage)


def test_configs_differ_by_keys_with_dots() -> None:
    old = {"a": {"b": 1, "c": (1, 2)}, "gone": True}
    assert differences(old, {"a": {"b": 2, "c": [1, 2]}, "new": None}) == {"a.b": (1, 2), "gone": (True, None)}


def test_more_skipped_updates_than_steps_are_refused() -> None:
    with pytest.raises(ValueError, match="only 1 steps were made"):
        Progress(step=1, cursor=8, attempt=1, skipped_updates=2, lr=0, seed=0, plan_id="", config={}, versions={})


def test_versions_name_python_and_all_that_is_installed() -> None:
    found = versions()
    assert found == versions()
    assert {"python", "numpy", "environment"} <= found.keys()
