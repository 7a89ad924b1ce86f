"""Kill anything at any moment and run the same command again: the output is that of an undisturbed run."""

import os
import random
import signal
import time
from pathlib import Path

import pytest

from tests.faults.runs import command, events, finish, kill_all, start, tree, workers_of

# Stages, and steps of theirs.
STAGES = ("extract", "candidates", "uses", "dedup", "site-evidence", "site", "requests", "fetch", "assemble", "alive",
          "shard", "validate")  # fmt: skip

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def undisturbed(warcs: list[Path], proxy: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    output = tmp_path_factory.mktemp("undisturbed") / "out"
    code, printed = finish(command(warcs, output, 1), proxy)
    assert code == 0, printed
    found = tree(output)
    assert any(name.endswith(".tar") for name in found)
    return found


def wait_for_stage(process: object, output: Path, stage: str, seen: int) -> bool:
    """Until the stage begins, with work to do, in this try; False where the run ends before."""
    deadline = time.monotonic() + 250  # a hang, and no measure of anything
    while time.monotonic() < deadline:
        for event in events(output)[seen:]:
            if event["event"] == "stage_started" and event["stage"] == stage and event["units"] != event["done"]:
                return True
        if process.poll() is not None:  # type: ignore[attr-defined]
            return False
        time.sleep(0.005)
    raise AssertionError(f"{stage} never began")


@pytest.mark.timeout(1500)  # a dozen runs and more
@pytest.mark.parametrize("times", [1, pytest.param(2, marks=pytest.mark.by_hand)])
def test_kills_in_every_stage_and_before_the_first_commit_change_nothing(
    times: int, warcs: list[Path], proxy: str, undisturbed: dict[str, str], tmp_path: Path
) -> None:
    dice = random.Random(7)
    hit: dict[str, int] = dict.fromkeys(("before", *STAGES), 0)
    round_ = 0
    while min(hit.values()) < times:
        output = tmp_path / f"out-{round_}"
        round_ += 1
        assert round_ < 15, f"kills did not land: {hit}"
        for stage in ("before", *STAGES):
            process = start(command(warcs, output), proxy)
            if stage == "before":
                time.sleep(dice.uniform(0.0, 0.5))
            elif not wait_for_stage(process, output, stage, len(events(output))):
                process.communicate()
                continue
            else:
                time.sleep(dice.uniform(0.0, 0.3))
            if process.poll() is None:
                hit[stage] += 1
            kill_all(process)
        code, printed = finish(command(warcs, output), proxy)
        assert code == 0, printed
        assert tree(output) == undisturbed


def test_killed_workers_change_nothing(
    warcs: list[Path], proxy: str, undisturbed: dict[str, str], tmp_path: Path
) -> None:
    output = tmp_path / "out"
    process = start(command(warcs, output), proxy)
    killed = 0
    while process.poll() is None and killed < 6:
        for pid in workers_of(process.pid)[:1]:
            os.kill(pid, signal.SIGKILL)
            killed += 1
        time.sleep(0.25)
    printed, _ = process.communicate(timeout=600)
    assert killed
    assert process.returncode == 0, printed
    assert tree(output) == undisturbed


@pytest.mark.by_hand
@pytest.mark.parametrize("workers", [2, 4])
def test_the_number_of_workers_changes_no_byte(
    warcs: list[Path], proxy: str, undisturbed: dict[str, str], tmp_path: Path, workers: int
) -> None:
    code, printed = finish(command(warcs, tmp_path / "out", workers), proxy)
    assert code == 0, printed
    assert tree(tmp_path / "out") == undisturbed


def test_ctrl_c_stops_with_exit_code_3_and_the_next_run_goes_on(
    warcs: list[Path], proxy: str, undisturbed: dict[str, str], tmp_path: Path
) -> None:
    output = tmp_path / "out"
    process = start(command(warcs, output), proxy)
    assert wait_for_stage(process, output, "fetch", 0)
    os.killpg(process.pid, signal.SIGINT)
    printed, _ = process.communicate(timeout=600)
    assert process.returncode == 3, printed
    assert "run the same command again" in printed
    assert "Traceback" not in printed
    code, printed = finish(command(warcs, output), proxy)
    assert code == 0, printed
    assert tree(output) == undisturbed


@pytest.mark.by_hand
def test_a_second_run_does_nothing_and_a_changed_threshold_redoes_what_it_touches(
    warcs: list[Path], proxy: str, tmp_path: Path
) -> None:
    output = tmp_path / "out"
    assert finish(command(warcs, output), proxy)[0] == 0
    before, seen = tree(output), len(events(output))
    code, printed = finish(command(warcs, output), proxy)
    assert (code, tree(output)) == (0, before)
    assert "nothing to do" in printed
    assert not [e for e in events(output)[seen:] if e["event"] == "unit_done"]
    seen = len(events(output))
    code, printed = finish(command(warcs, output, sets=["shard.target_bytes=900000"]), proxy)
    redone = {e["stage"] for e in events(output)[seen:] if e["event"] == "unit_done"}
    assert (code, redone) == (0, {"shard"})
    assert "shard.target_bytes: 400000 -> 900000" in printed
