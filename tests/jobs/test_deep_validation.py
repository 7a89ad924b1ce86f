"""`validate --deep` names each damaged file of a run, and `--repair` lets the run's command write it again."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.commit import SEAL
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.unit import digest
from obelics_pipeline.jobs.damage import survey
from obelics_pipeline.jobs.deep_validation import deep, repair
from tests.faults.damaged_run import GIVEN, Damage, World, a_world, cut, delete, flip, kinds, stop_after, zeros
from tests.faults.runs import published

NOT_THE_RUNS = {"events.jsonl", ".lock", ".workers"}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with a_world(tmp_path_factory.mktemp("world")) as made:
        yield made


@pytest.fixture(scope="module")
def finished(world: World) -> Path:
    output = world.folder / "finished"
    assert world.run(output) == 0
    return output


@pytest.fixture
def output(finished: Path, tmp_path: Path) -> Path:
    return shutil.copytree(finished, tmp_path / "out")


def receipts(output: Path) -> set[str]:
    """The names of the notes that a shuffle's workers leave for its end."""
    return {path.name for path in output.glob("shuffled/*/*/*=*.json")}


def of(output: Path, pattern: str) -> Path:
    """The largest file of a run that a pattern finds."""
    return max(output.glob(pattern), key=lambda path: (path.stat().st_size, path))


def test_every_file_of_a_whole_run_is_as_it_was_written(finished: Path) -> None:
    report = deep(finished)
    assert (report.exit_code, dict(report.files.damaged)) == (0, {})
    read = report.files.held + report.files.parsed
    written = [path for path in finished.rglob("*") if path.is_file() and path.name not in NOT_THE_RUNS]
    assert read == len({path for path in written if path.name not in {"validated", *receipts(finished)}})


@pytest.mark.parametrize("damage", [flip, delete])
def test_a_damaged_file_of_any_kind_is_named_and_no_other(finished: Path, output: Path, damage: Damage) -> None:
    seen = {}
    unread = NOT_THE_RUNS | GIVEN | {"duplicates.parquet", "validated"}
    for kind, path in kinds(finished, {*unread, *receipts(finished)}).items():
        name = str(path.relative_to(finished))
        if damage is delete and not (path.suffix in (".parquet", ".tar") or kind.startswith("images/")):
            continue  # a manifest, a note or a list that is gone: what it said is found out again
        damage(output / name)
        seen[kind] = set(survey(RunFolder(output)).damaged) == {name}
        shutil.copy2(path, output / name)
    assert len(seen) > 20
    assert [kind for kind, named in seen.items() if not named] == []


def test_damaged_files_are_set_aside_and_the_command_writes_them_again(
    world: World, finished: Path, output: Path
) -> None:
    flip(of(output, "extract/*.parquet"))
    delete(of(output, "images/*/*"))
    zeros(of(output, "shards/*.tar"))
    report = repair(output)
    assert (report.exit_code, len(report.files.damaged)) == (1, 3)
    assert report.lines()[-1] == "set 3 files aside; run the same command again to write them again"
    assert world.run(output) == 0
    assert published(output) == published(finished)
    assert deep(output).exit_code == 0


@pytest.mark.parametrize("name", ["../../outside", "/outside", "a/../../../outside"])
def test_a_manifest_that_names_a_file_of_others_is_set_aside_and_that_file_is_left(output: Path, name: str) -> None:
    outside = output.parent / "outside"
    outside.write_text("of somebody else")
    manifest = of(output, "dedup/manifests/*.json")
    value = json.loads(manifest.read_text())
    value.pop(SEAL)
    value["files"]["data"]["name"] = str(outside) if name.startswith("/") else name
    manifest.write_text(json.dumps(value | {SEAL: digest(value)}))
    report = repair(output)
    assert f"dedup/manifests/{manifest.name}" in report.files.damaged
    assert outside.read_text() == "of somebody else"
    assert not manifest.exists()


def test_what_says_which_command_it_was_is_left(output: Path) -> None:
    cut(output / "inputs.json")
    assert "inputs.json: left as it is; the command of the run says what to do" in repair(output).lines()
    assert (output / "inputs.json").exists()


def test_an_unfinished_run_is_read_and_never_called_valid(output: Path) -> None:
    stop_after(output, "extract")
    report = deep(output)
    assert (report.exit_code, report.shards) == (0, None)
    assert report.lines()[-1] == "the run is not finished: run the same command again to continue"
    assert not any(line.startswith("valid") for line in report.lines())


def test_a_folder_that_no_run_wrote_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no run here .run\.json is missing.; give the --output of obelics run"):
        deep(tmp_path)


def test_nothing_is_set_aside_while_a_run_is_at_work(output: Path) -> None:
    flip(of(output, "extract/*.parquet"))
    with RunFolder(output).locked(), pytest.raises(UserError, match="another run is working there"):
        repair(output)
    assert deep(output).files.damaged


def test_the_command_prints_each_damaged_file_and_exits_with_1(
    output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged = of(output, "dedup/*.parquet")
    flip(damaged)
    capsys.readouterr()
    assert main(["validate", str(output), "--deep"]) == 1
    assert f"dedup/{damaged.name}: differs from what the run wrote" in capsys.readouterr().out
