"""Revisions of a run: one pointer moves, and whenever a process is killed what is read is one whole revision."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.revision_place import RESULTS, TAKEN
from obelics_pipeline.core.revisions import revisions_of
from tests.core.kills import killed_at

CALLS = ("rename", "symlink", "unlink", "link", "mkdir", "rmdir")
OLD = {
    "manifest.json": "one",
    "config.yaml": "1",
    "extract/manifests/a.json": "a",
    "extract/a.parquet": "same",
    "shards/shard-000000.tar": "first",
}
NEW = OLD | {
    "manifest.json": "two",
    "config.yaml": "2",
    "shards/shard-000000.tar": "other",
    "scores/manifests/s.json": "s",
}


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)  # a run never writes into a file that is there: others may share it
        path.write_text(text)


def read(folder: Path) -> dict[str, str]:
    return {name: (folder / name).read_text() for name in OLD | NEW if (folder / name).exists()}


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A finished run, with an input and a log that are no revision's."""
    folder = tmp_path / "run"
    write(
        folder,
        OLD
        | {"events.jsonl": "log", "input/a.warc": "pages", "report.html": "of the first", "export-parquet/x": "rows"},
    )
    return folder


def renewed(base: Path) -> Path:
    """The same with a second revision that is not current yet."""
    new = {name: text for name, text in NEW.items() if (base / name).parent == base or name not in OLD}
    write(revisions_of(base).begin(), new)
    write(base / "revisions/2", {"shards/shard-000000.tar": NEW["shards/shard-000000.tar"]})
    return base


def test_a_run_with_one_revision_lies_in_its_folder(base: Path) -> None:
    found = revisions_of(base)
    assert (found.current(), found.current_number(), found.places()) == (base, 1, {1: base})
    assert RunFolder(base).path == base


def test_a_revision_begins_with_links_to_units_and_without_results(base: Path) -> None:
    second = revisions_of(base).begin()
    assert sorted(p.name for p in second.iterdir()) == ["config.yaml", "extract", "shards"]
    assert (second / "extract/a.parquet").samefile(base / "extract/a.parquet")
    write(second, NEW)
    assert read(base) == OLD
    assert (revisions_of(base).current(), revisions_of(base).numbers()) == (base, [1, 2])


def test_the_names_in_the_folder_mean_the_current_revision(base: Path) -> None:
    revisions_of(renewed(base)).point(2)
    assert read(base) == read(RunFolder(base).path) == NEW
    assert read(revisions_of(base).place(1)) == OLD
    assert RunFolder(base).base == RunFolder(revisions_of(base).place(1)).base == base
    assert (base / "input/a.warc").read_text() == "pages"
    assert RunFolder(revisions_of(base).place(1)).events.read_text() == "log"
    revisions_of(base).point(1)
    assert read(base) == OLD
    assert not (base / "scores").is_symlink(), "the first has none"


def test_what_is_shared_is_on_the_disk_once(base: Path) -> None:
    revisions_of(renewed(base)).point(2)
    files = [revisions_of(base).place(number) / "extract/a.parquet" for number in (1, 2)]
    assert files[0].samefile(files[1])
    revisions_of(base).drop(1)
    assert read(base) == NEW


def test_the_last_revision_lies_in_the_folder_again(base: Path) -> None:
    revisions_of(renewed(base)).point(2)
    revisions_of(base).gather()
    assert revisions_of(base).current() != base, "there are two"
    revisions_of(base).drop(1)
    revisions_of(base).gather()
    assert revisions_of(base).current() == base
    assert read(base) == NEW
    names = {"config.yaml", "events.jsonl", "extract", "input", "manifest.json", "scores", "shards"}
    assert {path.name for path in base.iterdir()} == names | {"report.html", "export-parquet"}
    assert not any(path.is_symlink() for path in base.iterdir())


def test_a_copy_that_followed_the_links_is_a_run_of_one_revision(base: Path, tmp_path: Path) -> None:
    revisions_of(renewed(base)).point(2)
    copied = tmp_path / "copied"
    shutil.copytree(base, copied)
    assert revisions_of(copied).current() == copied
    assert read(copied) == NEW
    assert revisions_of(copied).numbers() == [1, 2]
    write(revisions_of(copied).begin(), OLD)
    assert revisions_of(copied).numbers() == [1, 2, 3]
    revisions_of(copied).point(3)
    assert read(copied) == OLD | {"scores/manifests/s.json": "s"}


def in_order(base: Path) -> None:
    revisions_of(renewed(base)).point(2)


def back(base: Path) -> None:
    revisions_of(base).point(1)


def dropped(base: Path) -> None:
    if (base / "revisions/1").exists():
        revisions_of(base).drop(1)
    revisions_of(base).gather()


@pytest.mark.parametrize(
    ("before", "act", "outcomes"),
    [
        (renewed, lambda base: revisions_of(base).point(2), (OLD, NEW)),
        (in_order, back, (OLD, NEW)),
        (in_order, dropped, (NEW,)),
        (lambda base: None, lambda base: revisions_of(base).begin(), (OLD,)),
    ],
    ids=["point", "back", "drop", "begin"],
)
def test_a_kill_at_any_step_leaves_one_whole_revision(
    before: Callable[[Path], object], act: Callable[[Path], object], outcomes: tuple[dict[str, str], ...], base: Path
) -> None:
    before(base)
    for step in range(1000):
        copy = base.with_name(f"copy-{step}")
        shutil.copytree(base, copy, symlinks=True)
        with killed_at(step, os, CALLS) as steps:
            act(copy)
        if steps[0] <= step:
            assert step > 3
            break
        assert read(RunFolder(copy).path) in outcomes, f"after {step} steps"
        with RunFolder(copy).locked():
            pass
        assert read(copy) == read(RunFolder(copy).path), f"the names after {step} steps"
        with RunFolder(copy).locked():
            act(copy)
        assert read(copy) == read(RunFolder(copy).path) == outcomes[0 if act is back else -1]
    else:
        raise AssertionError("it never ended")


def test_every_place_of_a_run_is_a_revisions_or_the_whole_runs() -> None:
    whole = {"", "events.jsonl"}  # the folder itself, and its log
    stages = {"extract", "dedup", "requests", "fetch", "assembled", "consent", "scores", "scored"}  # have manifests
    names = {place.name for place in vars(RunFolder(Path())).values()}
    assert names - whole - stages <= TAKEN | RESULTS


def test_names_that_a_kill_left_are_led_through_the_pointer(base: Path) -> None:
    revisions_of(renewed(base)).point(2)
    (base / "shards").unlink()
    revisions_of(base).lead_names()
    assert read(base) == NEW
