import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.training.train.state import kept
from obelics_pipeline.training.train.state.head import head_of, recorded
from obelics_pipeline.training.train.state.interventions import intervene
from obelics_pipeline.training.train.state.ledger import Ledger, active, holdings, revert_trials
from obelics_pipeline.training.train.state.manifest import write_manifest
from obelics_pipeline.training.train.state.saved import SavedState
from obelics_pipeline.training.train.state.schedule import ScheduleSection, lr

WHY = ["--reason", "it spikes"]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of 300 steps of 8 rows, with checkpoints at 100 and 200, on a plan of 4000 rows."""
    run = tmp_path / "run"
    Ledger(run / "ledger.jsonl").append("start", attempt=1, step=0)
    lines = [{"attempt": 1, "step": s, "cursor": (s - 1) * 8, "rows": 8, "lr": 1e-4} for s in range(1, 301)]
    (run / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"attempt": 1, "st')
    for step in (100, 200):
        path = run / "checkpoints" / kept.name_of(step)
        (path / "tensors").mkdir(parents=True)
        (path / "tensors" / "shard-00001-model-00001-of-00002.safetensors").write_bytes(b"weights")
        state = SavedState(
            step=step, cursor=step * 8, attempt=1, optimiser_steps=step, lr=1e-4, seed=7, plan_id="a-plan", config={},
            versions={"torch": "2.13.0"}, world_size=2, tensors={"gate": "float32[1]"}, moments=("exp_avg",),
            hyper={"class": "AdamW", "beta1": 0.9}, parameters_fingerprint="a1", moments_fingerprint="b2",
        )  # fmt: skip
        (path / "state.json").write_text(state.model_dump_json())
        write_manifest(path)
    (tmp_path / "plan").mkdir()
    (tmp_path / "plan" / "plan.json").write_text(json.dumps({"rows": 4000}))
    (run / "plan.txt").write_text(f"{tmp_path / 'plan'} a-plan\n")
    return run


def command(run: Path, text: str) -> int:
    return main(["intervene", str(run), *shlex.split(text), *WHY])


def last(run: Path):
    return Ledger(run / "ledger.jsonl").entries[-1]


def test_a_lower_learning_rate_is_one_line_and_the_rate_follows(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(run, "lr --factor .75 --at 14500") == 0
    assert capsys.readouterr().out == "2  lr  factor 0.75, branch False from step 14500 on: it spikes\n"
    entries = Ledger(run / "ledger.jsonl").entries
    assert (entries[1].attempt, entries[1].step, entries[1].why) == (1, 300, "it spikes")
    schedule = ScheduleSection(peak=1.0, warmup_steps=0, shape="constant")
    assert [lr(step, schedule, holdings(entries)) for step in (14499, 14500)] == [1.0, 0.75]


@pytest.mark.parametrize(
    ("text", "kind", "fields"),
    [
        ("weight-decay --value 0.05", "weight_decay", {"value": 0.05, "at": 301}),
        ("clip --value 0.3", "clip", {"value": 0.3, "at": 301}),
        ("clip", "clip", {"value": None}),
        ("reset-moments --at 400", "reset_moments", {"pattern": "*", "at": 400}),
        ("reset-moments --pattern vision.*", "reset_moments", {"pattern": "vision.*"}),
        ("unfreeze language_model.*", "unfreeze", {"pattern": "language_model.*"}),
        ("config optimiser.beta2 .98", "config", {"key": "optimiser.beta2", "value": ".98"}),
        ("config optimiser.beta2 0.98", "config", {"key": "optimiser.beta2", "value": 0.98}),
        ("skip-rows 2400:2464", "skip_rows", {"start": 2400, "stop": 2464}),
        ("requeue-rows 8:16", "requeue_rows", {"start": 8, "stop": 16}),
        ("rollback 200", "rollback", {"to_step": 200, "from_step": 200, "parent": 1, "cursor": 1600, "attempt": 2}),
        ("rollback 100 --skip 1600:1616", "rollback", {"to_step": 100, "rows": (1600, 1616)}),
    ],
)
def test_every_change_is_one_entry_of_its_kind(run: Path, text: str, kind: str, fields: dict) -> None:
    assert command(run, text) == 0
    entry = last(run)
    assert (entry.number, entry.kind) == (2, kind)
    assert {key: getattr(entry, key) for key in fields} == fields


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("lr --factor .5 --at 300", "--at 300 is in the past: the run has done step 300; give 301 or more"),
        ("lr --factor 2", "raises the learning rate: --branch tries it"),
        ("lr --factor 0", "factor: Input should be greater than 0"),
        ("skip-rows 2399:2410", "rows 2399:2410: the run has those before 2400 behind it"),
        ("requeue-rows 3999:4001", "rows 3999:4001: there are 4000"),
        ("undo 1", "entry 1 is of kind start"),
        ("rollback 150", "no checkpoint of step 150 on the run's line; there are: 100, 200"),
        ("rollback 301", "the run has only come to step 300"),
        ("rollback 200 --skip 1599:1608", "step 200 ended before 1600"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line_and_nothing_is_written(
    run: Path, text: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (run / "ledger.jsonl").read_bytes()
    assert command(run, text) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert (run / "ledger.jsonl").read_bytes() == before


def test_one_change_at_a_time_unless_forced(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(run, "clip --value 0.3 --at 400") == 0
    assert command(run, "lr --factor .5 --at 400") == 2
    assert "entry 2 (clip) begins at this step too" in capsys.readouterr().err
    assert command(run, "lr --factor .5 --at 401") == 0
    assert command(run, "weight-decay --value 0 --at 401 --force") == 0


def test_a_change_that_was_undone_is_in_nobodys_way(run: Path) -> None:
    assert command(run, "clip --value 0.3") == 0
    assert command(run, "undo 2") == 0
    assert command(run, "lr --factor .5") == 0
    assert [entry.kind for entry in active(Ledger(run / "ledger.jsonl").entries, 301)] == ["lr"]


@pytest.mark.parametrize(("option", "branch"), [("--branch", True), ("--force", False)])
def test_a_higher_learning_rate_is_a_trial_or_forced(run: Path, option: str, branch: bool) -> None:
    assert command(run, f"lr --factor 2 {option}") == 0
    assert last(run).branch is branch


def test_trials_are_undone_at_the_first_act_of_the_guard_and_the_run_goes_back_to_before(run: Path) -> None:
    command(run, "lr --factor 2 --branch --at 305")
    command(run, "lr --factor .5 --at 306")
    ledger = Ledger(run / "ledger.jsonl")
    assert revert_trials(ledger, attempt=1, step=304, why="not begun") is None
    assert revert_trials(ledger, attempt=1, step=320, why="the loss diverges") == 305
    assert [entry.kind for entry in active(ledger.entries, 321)] == ["lr"]
    assert last(run).of == 2
    assert revert_trials(ledger, attempt=1, step=330, why="again") is None


def test_after_a_rollback_the_run_is_where_it_went_back_to(run: Path) -> None:
    assert command(run, "rollback 100 --skip 1600:1616") == 0
    head = head_of(run, Ledger(run / "ledger.jsonl").entries)
    assert (head.attempt, head.step, head.cursor, head.metrics) == (2, 100, 800, None)
    assert command(run, "lr --factor .5") == 0
    assert (last(run).at, last(run).attempt) == (101, 2)
    assert command(run, "rollback 200") == 2


def test_a_resumed_run_that_made_no_step_yet_is_at_its_checkpoint(run: Path) -> None:
    ledger = Ledger(run / "ledger.jsonl")
    ledger.append("resume", attempt=2, step=200, parent=1, from_step=200)
    head = head_of(run, ledger.entries)
    assert (head.attempt, head.step, head.cursor) == (2, 200, 1600)
    assert recorded(run / "metrics.jsonl", 1, 200)["cursor"] == 199 * 8
    assert recorded(run / "metrics.jsonl", 2, 200) is None


def test_a_reason_must_be_given(run: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["intervene", str(run), "clip"])
    assert ended.value.code == 2
    with pytest.raises(UserError, match="--reason is empty"):
        intervene(run, "clip", " ", value=1.0)


def test_rows_that_are_no_range_are_refused(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for rows in ("5:5", "7", "a:b", "9:3"):
        with pytest.raises(SystemExit):
            command(run, f"skip-rows {rows}")
    assert "must be A:B with A < B" in capsys.readouterr().err


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(tmp_path, "clip") == 2
    assert main(["inspect", str(tmp_path)]) == 2
    assert "neither a run (ledger.jsonl) nor a checkpoint (state.json)" in capsys.readouterr().err


def test_inspect_tells_where_a_run_is_and_what_is_in_force(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command(run, "lr --factor .75 --at 14500")
    command(run, "rollback 100")
    with (run / "ledger.jsonl").open("a") as stream:
        stream.write('{"number": 4')
    capsys.readouterr()
    assert main(["inspect", str(run)]) == 0
    lines = capsys.readouterr().out.splitlines()
    for line in (
        "step            100",
        "attempt         2",
        "cursor          800",
        "steps made      300, 200 of them rolled back",
        'ledger          its last line is half written, and skipped: {"number": 4',
        "attempt 2       rollback after step 100 of attempt 1",
        "change          2  lr  factor 0.75, branch False from step 14500 on: it spikes",
        "checkpoint      step-00000100, attempt 1",
        "checkpoint      step-00000200, attempt 1, rolled back",
    ):
        assert line in lines


def test_inspect_shows_a_checkpoint_and_its_files(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = run / "checkpoints" / "step-00000200"
    assert main(["inspect", str(path)]) == 0
    out = capsys.readouterr().out
    for line in (
        "step            200",
        "learning rate   0.0001",
        "optimiser step  200 (0 updates skipped)",
        "cursor          1600",
        "optimiser       class AdamW, beta1 0.9",
        "file                       7  tensors/shard-00001-model-00001-of-00002.safetensors",
        "verified: all files match their hashes",
    ):
        assert f"{line}\n" in out
    (path / "optimizer.pt.orig").write_bytes(b"")
    assert main(["inspect", str(path)]) == 2
    assert "optimizer.pt.orig is stray" in capsys.readouterr().err


def test_all_but_the_tensors_works_without_torch() -> None:
    """Also with the package blocked: `obelics intervene` runs on a machine that has none."""
    rooms = "certificate cursor entries head inspection interventions kept ledger lineage manifest saved"
    code = "import sys; sys.modules['torch'] = None\n" + "\n".join(
        f"import obelics_pipeline.training.train.state.{room}" for room in [*rooms.split(), "schedule"]
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[4])
