import importlib.util
import json
import math
import os
import socket
import subprocess
import sys
from concurrent.futures import Future
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.training.train.state import checkpoint
from obelics_pipeline.training.train.state.certificate import Now, certificate
from obelics_pipeline.training.train.state.fingerprint import fingerprint, sums_of
from obelics_pipeline.training.train.state.kept import restore_history, sweep
from obelics_pipeline.training.train.state.ledger import Ledger
from obelics_pipeline.training.train.state.saved import read_state
from obelics_pipeline.training.train.state.schedule import ScheduleSection

CONSTANT = ScheduleSection(peak=0.01, warmup_steps=0, shape="constant", weight_decay=0.1)
PROGRAM = Path(__file__).with_name("small_run.py")
_spec = importlib.util.spec_from_file_location("small_run", PROGRAM)
assert _spec is not None and _spec.loader is not None
small_run = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(small_run)


def named(model):
    return dict(model.named_parameters())


@pytest.fixture
def trained():
    model = small_run.Model(1)
    optimiser = small_run.optimiser_of(model)
    small_run.train(model, optimiser, 1, 2)
    return model, optimiser


@pytest.fixture
def saved(tmp_path: Path, trained) -> Path:
    model, optimiser = trained
    return checkpoint.save(tmp_path / "checkpoints", small_run.progress(2), named(model), optimiser).wait()


def fresh(**settings):
    model = small_run.Model(2)
    return model, small_run.optimiser_of(model, **settings)


@pytest.mark.parametrize("background", [False, True])
def test_what_is_loaded_is_bitwise_what_was_saved_and_trains_on_alike(
    tmp_path: Path, trained, background: bool
) -> None:
    model, optimiser = trained
    saving = checkpoint.save(tmp_path, small_run.progress(2), named(model), optimiser, background=background)
    at_two = small_run.whole(model, optimiser)
    small_run.train(model, optimiser, 3, 5)
    path = saving.wait()
    assert saving.done()
    assert path.name == "step-00000002"
    again, other = fresh()
    loaded = checkpoint.load(path, named(again), other)
    assert small_run.equal(small_run.whole(again, other), at_two)
    assert loaded.parameters_fingerprint == loaded.saved.parameters_fingerprint
    assert loaded.moments_fingerprint == loaded.saved.moments_fingerprint
    small_run.train(again, other, 3, 5)
    assert small_run.equal(small_run.whole(again, other), small_run.whole(model, optimiser))


@pytest.mark.slow
def test_two_processes_save_what_one_or_two_load_and_the_other_way_round(tmp_path: Path, trained, saved: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port", str(port)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    arguments = [str(PROGRAM), str(tmp_path / "two"), str(saved)]
    done = subprocess.run([*command, *arguments], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    from safetensors.torch import load_file

    for folder in (tmp_path / "two" / "waited", tmp_path / "two" / "background"):
        found = json.loads((folder / "found.json").read_text())
        assert found == dict.fromkeys(("bitwise", "fingerprints", "goes on", "of one process"), True)
        again, other = fresh()
        loaded = checkpoint.load(folder / "checkpoints" / "step-00000002", named(again), other)
        assert loaded.saved.world_size == 2
        assert small_run.equal(small_run.whole(again, other), load_file(folder / "at_two.safetensors"))
        assert loaded.parameters_fingerprint == loaded.saved.parameters_fingerprint  # of two processes, and of one
        assert loaded.moments_fingerprint == loaded.saved.moments_fingerprint
        assert small_run.equal(small_run.whole(*trained), load_file(folder / "of_one.safetensors"))


def test_weights_lie_in_files_that_others_can_open_without_running_code(saved: Path, trained) -> None:
    from safetensors.torch import load_file

    files = sorted((saved / "tensors").iterdir())
    assert [path.name for path in files] == [
        "shard-00001-model-00001-of-00002.safetensors",
        "shard-00001-model-00002-of-00002.safetensors",
    ]
    weights, moments = map(load_file, files)
    assert weights.keys() == named(trained[0]).keys()
    assert torch.equal(weights["gate"], trained[0].gate)
    assert "exp_avg_sq.first.weight" in moments
    assert not [path for path in saved.rglob("*") if path.suffix in (".pt", ".pkl", ".bin", ".distcp")]


def _stray(path: Path) -> str:
    (path / "custom_checkpoint_0.pkl.orig").write_bytes(b"old")
    return "custom_checkpoint_0.pkl.orig is stray"


def _stray_tensors(path: Path) -> str:
    source = path / "tensors" / "shard-00001-model-00001-of-00002.safetensors"
    (path / "tensors" / "shard-00002-model-00001-of-00002.safetensors").write_bytes(source.read_bytes())
    return "shard-00002-model-00001-of-00002.safetensors is stray"


def _missing(path: Path) -> str:
    (path / "tensors" / "shard-00001-model-00002-of-00002.safetensors").unlink()
    return "shard-00001-model-00002-of-00002.safetensors is missing"


def _flipped(path: Path) -> str:
    file = path / "tensors" / "shard-00001-model-00002-of-00002.safetensors"
    data = bytearray(file.read_bytes())
    data[-3] ^= 1
    file.write_bytes(data)
    return "shard-00001-model-00002-of-00002.safetensors was altered"


def _truncated(path: Path) -> str:
    file = path / "tensors" / "shard-00001-model-00001-of-00002.safetensors"
    file.write_bytes(file.read_bytes()[:-1])
    return "shard-00001-model-00001-of-00002.safetensors has [0-9]+ bytes, not"


def _edited_state(path: Path) -> str:
    file = path / "state.json"
    file.write_text(file.read_text().replace('"lr": 0.01', '"lr": 0.02'))
    return "state.json was altered"


def _edited_manifest(path: Path) -> str:
    file = path / "manifest.json"
    file.write_text(file.read_text().replace('"bytes": ', '"bytes": 1'))
    return "manifest.json was altered"


def _no_manifest(path: Path) -> str:
    (path / "manifest.json").unlink()
    return "manifest.json is missing"


@pytest.mark.parametrize(
    "damage",
    [_stray, _stray_tensors, _missing, _flipped, _truncated, _edited_state, _edited_manifest, _no_manifest],
)
def test_a_file_that_is_not_as_it_was_written_is_refused_by_its_name(saved: Path, damage) -> None:
    said = damage(saved)
    model, optimiser = fresh()
    before = small_run.Model(2)
    with pytest.raises(UserError, match=said) as refusal:
        checkpoint.load(saved, named(model), optimiser)
    assert "\n" not in str(refusal.value)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), before.parameters(), strict=True))
    assert not optimiser.state


def _nothing_is_read(tensors: dict, **_: object) -> None:
    """A loader that silently loads no state: what cost the 80B run two attempts."""


def _one_moment_is_lost(tensors: dict, **arguments: object) -> None:
    checkpoint.dcp.real_load(tensors, **arguments)
    tensors["exp_avg.gate"].zero_()


def _one_bit_flips(tensors: dict, **arguments: object) -> None:
    checkpoint.dcp.real_load(tensors, **arguments)
    tensors["first.weight"].view(torch.int32)[2, 1] ^= 1


@pytest.mark.parametrize(
    ("fault", "red"),
    [
        (_nothing_is_read, {"weights", "moments"}),
        (_one_moment_is_lost, {"moments"}),
        (_one_bit_flips, {"weights"}),
    ],
)
def test_what_was_not_restored_turns_the_certificate_red(saved: Path, monkeypatch, fault, red: set[str]) -> None:
    monkeypatch.setattr(checkpoint.dcp, "real_load", checkpoint.dcp.load, raising=False)
    model, optimiser = fresh()
    for load, expected in ((checkpoint.dcp.real_load, set()), (fault, red)):
        monkeypatch.setattr(checkpoint.dcp, "load", load)
        loaded = checkpoint.load(saved, named(model), optimiser)
        state = loaded.saved
        now = Now(saved.name, state.cursor, state.seed, state.plan_id, state.config, state.versions, CONSTANT, ())
        assert {line.name for line in certificate(loaded, now).lines if line.level == "RED"} == expected
        model, optimiser = fresh()


def test_a_write_that_fails_in_the_background_is_told_and_leaves_no_checkpoint(
    tmp_path: Path, trained, monkeypatch
) -> None:
    def full(*_: object, **__: object) -> Future:
        future: Future = Future()
        future.set_exception(OSError(28, "No space left on device"))
        return future

    monkeypatch.setattr(checkpoint.dcp, "async_save", full)
    model, optimiser = trained
    saving = checkpoint.save(tmp_path, small_run.progress(2), named(model), optimiser, background=True)
    with pytest.raises(OSError, match="No space left"):
        saving.wait()
    assert sweep(tmp_path) == [f"{tmp_path / '.draft-step-00000002'}: half written, removed"]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("off", [-1, 1])
def test_an_optimiser_that_made_more_or_fewer_updates_than_the_run_is_not_saved(
    tmp_path: Path, trained, off: int
) -> None:
    model, optimiser = trained
    with pytest.raises(UserError, match=f"the optimiser has made 2 updates, and the run {2 + off} "):
        checkpoint.save(tmp_path, small_run.progress(2 + off), named(model), optimiser)
    assert not list(tmp_path.iterdir())


def test_skipped_updates_are_steps_that_the_optimiser_did_not_make(tmp_path: Path, trained) -> None:
    model, optimiser = trained
    path = checkpoint.save(tmp_path, small_run.progress(3, skipped_updates=1), named(model), optimiser).wait()
    assert read_state(path).optimiser_step == read_state(path).optimiser_steps == 2


def test_a_parameter_that_fell_behind_is_saved_only_where_it_was_unfrozen_late(tmp_path: Path, trained) -> None:
    model, optimiser = trained
    optimiser.state[model.gate]["step"] -= 1
    with pytest.raises(UserError, match="gate has made 1 updates of 2, and no entry of the ledger unfroze it"):
        checkpoint.save(tmp_path, small_run.progress(2), named(model), optimiser)
    path = checkpoint.save(tmp_path, small_run.progress(2), named(model), optimiser, late=["gat*"]).wait()
    again, other = fresh()
    checkpoint.load(path, named(again), other)
    assert small_run.equal(small_run.whole(again, other), small_run.whole(model, optimiser))


def test_the_optimiser_keeps_the_settings_that_the_config_gave_it(saved: Path) -> None:
    model, optimiser = fresh(betas=(0.8, 0.95), lr=0.5)
    loaded = checkpoint.load(saved, named(model), optimiser)
    assert (loaded.saved.hyper["beta1"], loaded.hyper["beta1"]) == (0.9, 0.8)
    assert optimiser.param_groups[0]["lr"] == 0.5
    assert loaded.hyper | {"beta1": 0.9} == loaded.saved.hyper


def test_a_model_of_other_parameters_is_refused(saved: Path, tmp_path: Path) -> None:
    model, optimiser = fresh()
    parameters = named(model)
    with pytest.raises(UserError, match="it has gate, which this model does not train"):
        checkpoint.load(saved, {name: value for name, value in parameters.items() if name != "gate"}, optimiser)
    more = torch.nn.Parameter(torch.zeros(2))
    optimiser.add_param_group({"params": [more]})
    with pytest.raises(UserError, match=r"it has no vision.weight, which this model trains"):
        checkpoint.load(saved, {**parameters, "vision.weight": more}, optimiser)
    loaded = checkpoint.load(saved, {**parameters, "vision.weight": more}, optimiser, fresh=["vision.*"])
    assert loaded.parameters_fingerprint == loaded.saved.parameters_fingerprint
    wide = {**parameters, "gate": torch.nn.Parameter(torch.zeros(2))}
    with pytest.raises(UserError, match=r"gate is float32\[1\] there, and float32\[2\] in this model"):
        checkpoint.load(saved, wide, optimiser)


def test_the_first_checkpoint_has_no_moments_yet(tmp_path: Path) -> None:
    model = small_run.Model(1)
    path = checkpoint.save(tmp_path, small_run.progress(0), named(model), small_run.optimiser_of(model)).wait()
    again, other = fresh()
    loaded = checkpoint.load(path, named(again), other)
    assert (loaded.optimiser_steps, loaded.saved.moments, dict(other.state)) == (0, (), {})
    assert torch.equal(again.first.weight, model.first.weight)


def test_moments_are_reset_by_pattern_and_the_count_of_steps_stays(trained) -> None:
    model, optimiser = trained
    assert checkpoint.reset_moments(named(model), optimiser, "first.*") == ["first.weight", "first.bias"]
    state = optimiser.state[model.first.weight]
    assert not state["exp_avg"].any() and not state["exp_avg_sq"].any()
    assert int(state["step"]) == 2
    assert optimiser.state[model.gate]["exp_avg"].any()


def test_a_checkpoint_of_the_same_step_is_replaced_whole(tmp_path: Path, trained, saved: Path) -> None:
    model, optimiser = trained
    folder = saved.parent
    (folder / ".draft-step-00000002").mkdir()
    checkpoint.save(folder, small_run.progress(2, attempt=2), named(model), optimiser).wait()
    assert read_state(saved).attempt == 2
    assert [path.name for path in folder.iterdir()] == ["step-00000002"]


def test_what_the_guard_remembers_comes_back_to_the_bit(tmp_path: Path, trained) -> None:
    model, optimiser = trained
    guard = {"window": [0.1, 1e-300, float("inf")], "lost": float("nan")}
    path = checkpoint.save(tmp_path, small_run.progress(2, guard=guard), named(model), optimiser).wait()
    read = read_state(path).guard
    assert read["window"] == guard["window"]
    assert math.isnan(read["lost"])


def test_a_lost_history_is_brought_back_from_the_checkpoint(tmp_path: Path, trained) -> None:
    run = tmp_path / "run"
    ledger = Ledger(run / "ledger.jsonl")
    ledger.append("start", attempt=1, step=0)
    (run / "metrics.jsonl").write_text('{"step":1}\n{"step":2}\n{"st')
    model, optimiser = trained
    path = checkpoint.save(run / "checkpoints", small_run.progress(2), named(model), optimiser, run=run).wait()
    assert read_state(path).metrics_bytes == len('{"step":1}\n{"step":2}\n')
    assert restore_history(path, run) == []
    (run / "ledger.jsonl").unlink()
    (run / "metrics.jsonl").write_text('{"step":1}\n')
    assert len(restore_history(path, run)) == 2
    assert Ledger(run / "ledger.jsonl").entries == ledger.entries
    assert (run / "metrics.jsonl").read_text() == '{"step":1}\n{"step":2}\n'
    (run / "metrics.jsonl").write_text('{"step":1}\n{"step":9}\n')
    with pytest.raises(UserError, match=r"metrics.jsonl is not the file that step-00000002 was written beside"):
        restore_history(path, run)


def test_a_fingerprint_is_another_for_every_flipped_bit_name_and_shape() -> None:
    values = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    names = {fingerprint({"a": values}), fingerprint({"b": values}), fingerprint({"a": values.reshape(3, 2)})}
    names.add(fingerprint({"a": values.to(torch.bfloat16)}))
    for element in range(6):
        for bit in range(32):
            flipped = values.clone()
            flipped.view(torch.int32).view(-1)[element] ^= 1 << bit if bit < 31 else -(1 << 31)
            names.add(fingerprint({"a": flipped}))
    assert len(names) == 4 + 6 * 32


def test_swapped_elements_change_a_fingerprint() -> None:
    values = torch.tensor([1.0, 2.0, 3.0])
    assert sums_of({"a": values}) != sums_of({"a": values[[1, 0, 2]]})
