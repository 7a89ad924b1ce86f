"""Kill `obelics forget` at any moment and call it again: the folder is that of one that was not disturbed."""

import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from obelics_pipeline.cli.main import main
from tests.faults.runs import HASTE, ROOT, command, finish, tree
from tests.forget.traces import traces
from tests.forget.victims import Victim, victims

KEY = "ab" * 32  # the same for every run, or names of blank documents differ


def forget(folder: Path, *arguments: str) -> "subprocess.Popen[str]":
    code = [sys.executable, "-m", "obelics_pipeline", "forget", str(folder), *arguments]
    return subprocess.Popen(
        code, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )


def kill(process: "subprocess.Popen[str]") -> None:
    """SIGKILL to a driver. It is reaped before its output ends, which workers hold until they see that it is gone."""
    process.kill()
    process.wait()
    process.communicate()


def done(folder: Path, *arguments: str) -> str:
    process = forget(folder, *arguments)
    printed, _ = process.communicate(timeout=600)
    assert process.returncode == 0, printed
    return printed


@pytest.fixture(scope="module")
def victim(run_of_demo: Path) -> Victim:
    return victims(run_of_demo)[0]


@pytest.fixture(scope="module")
def lists(victim: Victim, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("lists")
    (folder / "urls").write_text(victim.url + "\n")
    (folder / "domains").write_text("best-of-towns.example\n")
    (folder / "key").write_text(KEY + "\n")
    return ["--urls", str(folder / "urls"), "--domains", str(folder / "domains"), "--key", str(folder / "key")]


@pytest.fixture(scope="module")
def undisturbed(run_of_demo: Path, lists: list[str], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float]:
    """A run after a forget, and the seconds that it took once it had noted that it began."""
    folder = Path(shutil.copytree(run_of_demo, tmp_path_factory.mktemp("undisturbed") / "run"))
    process = forget(folder, *lists)
    assert is_begun(process, folder)
    began = time.monotonic()
    printed, _ = process.communicate(timeout=600)
    assert process.returncode == 0, printed
    return folder, time.monotonic() - began


def is_begun(process: "subprocess.Popen[str]", folder: Path) -> bool:
    """Wait until it has noted that it began: whether it did."""
    while not (folder / "forgotten/pending.json").exists():
        if process.poll() is not None:
            return False
        time.sleep(0.002)
    return True


@pytest.mark.slow
def test_a_killed_forget_is_finished_by_the_next(
    run_of_demo: Path, lists: list[str], victim: Victim, undisturbed: tuple[Path, float], tmp_path: Path
) -> None:
    dice = random.Random(11)
    expected, seconds = tree(undisturbed[0]), undisturbed[1]
    half = 0
    for round_ in range(5):
        folder = Path(shutil.copytree(run_of_demo, tmp_path / f"run-{round_}"))
        process = forget(folder, *lists)
        assert is_begun(process, folder)
        time.sleep(round_ / 5 * seconds)  # the first is killed at once, however fast the machine is by now
        kill(process)
        half += (folder / "forgotten/pending.json").exists()
        process = forget(folder, *lists)  # and who goes on is killed too, anywhere
        time.sleep(dice.uniform(0.0, 2.0) * seconds)
        kill(process)
        done(folder, *lists)
        assert tree(folder) == expected
        assert traces(folder, victim.needles) == []
        shutil.rmtree(folder)
    assert half >= 1


def killed_when(folder: Path, lists: list[str], is_so: Callable[[Path], bool]) -> bool:
    """Kill the driver of a forget as soon as something is so of its folder: whether it was at work then."""
    process = forget(folder, *lists)
    while process.poll() is None and not is_so(folder):
        time.sleep(0.002)
    kill(process)
    return (folder / "forgotten/pending.json").exists()


def has_found(folder: Path) -> bool:
    pending = folder / "forgotten/pending.json"
    return pending.exists() and '"found"' in pending.read_text()


def writes_tars(folder: Path) -> bool:
    return any((folder / "forgotten/steps/tars").glob("*.tar"))


def rewrites_units(folder: Path) -> bool:
    return len(list((folder / "forgotten/steps/units/manifests").glob("*.json"))) >= 3


def removes_images(folder: Path) -> bool:
    return any((folder / "forgotten/steps/images/manifests").glob("*.json"))


@pytest.mark.slow
def test_a_driver_that_is_killed_between_or_within_its_steps_is_finished_by_the_next(
    run_of_demo: Path, lists: list[str], victim: Victim, undisturbed: tuple[Path, float], tmp_path: Path
) -> None:
    expected = tree(undisturbed[0])
    for moment in (has_found, writes_tars, rewrites_units, removes_images):
        folder = Path(shutil.copytree(run_of_demo, tmp_path / moment.__name__))
        assert killed_when(folder, lists, moment), moment.__name__
        done(folder)  # without lists: what was begun is finished
        assert tree(folder) == expected, moment.__name__
        assert traces(folder, victim.needles) == []
        shutil.rmtree(folder)


def test_a_run_waits_for_a_forget_that_was_begun(
    run_of_demo: Path, lists: list[str], warcs: list[Path], proxy: str, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(run_of_demo, tmp_path / "run"))
    (folder / "forgotten").mkdir(exist_ok=True)
    (folder / "forgotten/pending.json").write_text('{"hashes": false}\n')
    code, printed = finish(command(warcs, folder, sets=HASTE), proxy)
    assert code == 2
    assert "obelics forget" in printed
    done(folder, *lists)


def test_two_at_once_are_locked_out(run_of_demo: Path, lists: list[str], tmp_path: Path) -> None:
    import fcntl

    folder = Path(shutil.copytree(run_of_demo, tmp_path / "run"))
    with (folder / ".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        process = forget(folder, *lists)
        printed, _ = process.communicate(timeout=600)
    assert process.returncode == 2
    assert "at work" in printed or "working" in printed


def test_a_full_disk_leaves_the_shards_as_they_were(run_of_demo: Path, lists: list[str], tmp_path: Path) -> None:
    """No file of more than 60 kilobytes can be written: as a disk that is full in the middle of a tar."""
    folder = Path(shutil.copytree(run_of_demo, tmp_path / "run"))
    before = {p.name: p.read_bytes() for p in [*(folder / "shards").glob("*.tar"), folder / "index.parquet"]}
    code = [sys.executable, "-m", "obelics_pipeline", "forget", str(folder), *lists]
    limited = subprocess.run(
        ["bash", "-c", 'trap "" XFSZ; ulimit -f 60; exec "$@"', "-", *code], cwd=ROOT, capture_output=True, text=True
    )
    assert limited.returncode == 3, limited.stderr
    assert limited.stderr.count("\n") == 1
    assert {p.name: p.read_bytes() for p in [*(folder / "shards").glob("*.tar"), folder / "index.parquet"]} == before
    done(folder)
    assert main(["validate", str(folder)]) == 0
