"""A run with other values makes a revision beside the finished one: nothing is lost by a slip, and one can go back."""

import hashlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.revisions import revisions_of
from obelics_pipeline.jobs.finished import Run
from tests.faults.inline import runs_inline
from tests.faults.runs import tree
from tests.small import arguments, write_warc

NOTHING = "filters.document={word_count: {min: 9999}}"
LESS = "filters.document={word_count: {min: 40}}"
LONG = ["bench", "very long and rather old stone bench"]  # the second page has more words


@pytest.fixture(scope="module", autouse=True)
def in_this_process() -> Iterator[None]:
    with runs_inline():
        yield


@pytest.fixture(scope="module")
def made(in_this_process: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("revisions")
    assert main(arguments([write_warc(folder / "in.warc", LONG)], folder / "out")) == 0
    return folder


@pytest.fixture
def finished(made: Path, tmp_path: Path) -> Path:
    """The folder of an input and of a finished run over it."""
    return Path(shutil.copytree(made, tmp_path / "run", copy_function=shutil.copy2))


def run(folder: Path, *sets: str, yes: bool = True) -> int:
    return main([*arguments([folder / "in.warc"], folder / "out", *sets), *(["--yes"] if yes else [])])


def shown(folder: Path, capsys: pytest.CaptureFixture[str], *how: str) -> list[str]:
    capsys.readouterr()
    assert main(["revisions", str(folder / "out"), *how]) == 0
    return capsys.readouterr().out.splitlines()


def documents(folder: Path) -> int:
    count: int = json.loads((folder / "manifest.json").read_text())["counts"]["documents"]
    return count


def test_a_revision_is_what_a_new_run_would_be(finished: Path, tmp_path: Path) -> None:
    before = tree(finished / "out")
    assert run(finished, LESS) == 0
    assert revisions_of(finished / "out").current_number() == 2
    fresh = tmp_path / "fresh"
    assert main(arguments([finished / "in.warc"], fresh, LESS)) == 0
    assert tree(finished / "out") == tree(fresh)
    assert documents(finished / "out") == documents(fresh) < 2
    assert tree(revisions_of(finished / "out").place(1)) == before
    for command in (["validate"], ["validate", "--deep"], ["report"]):
        assert main([*command, str(finished / "out")]) == 0
        assert main([*command, str(revisions_of(finished / "out").place(1))]) == 0


def test_the_plan_is_shown_and_a_no_leaves_all_as_it_was(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = tree(finished / "out")
    capsys.readouterr()
    assert run(finished, LESS, yes=False) == 2
    told = capsys.readouterr()
    assert "a new revision would begin from revision 1" in told.out
    assert "extract: 1 of 1 units are done again" in told.out
    assert "after it, at most, by units: " in told.out and "assemble 1" in told.out
    assert "1 shard with 2 documents stay current until" in told.out
    assert "in a new revision" in told.err and "--yes" in told.err and told.err.count("\n") == 1
    assert tree(finished / "out") == before
    assert revisions_of(finished / "out").numbers() == [1]


def test_former_values_bring_their_revision_back(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = tree(finished / "out")
    assert run(finished, LESS) == 0
    capsys.readouterr()
    assert run(finished, yes=False) == 0
    assert "revision 1 is current; revision 2 is kept" in capsys.readouterr().out
    assert tree(finished / "out") == before
    assert run(finished, LESS, yes=False) == 0
    assert revisions_of(finished / "out").numbers() == [1, 2]


def test_a_revision_of_another_config_comes_back_by_that_config(
    finished: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = finished / "mine.yaml"
    mine.write_text("extends: default\n")
    before = tree(finished / "out")
    default = arguments([finished / "in.warc"], finished / "out", LESS)
    other = [str(mine) if word == "default" else word for word in default]
    assert main([*other, "--yes"]) == 2
    assert "holds the output of config default, not of mine" in capsys.readouterr().err
    assert main([*other, "--force"]) == 0
    assert revisions_of(finished / "out").current_number() == 2
    assert main([*other, "--set", "filters.document={word_count: {min: 9}}", "--yes"]) == 0
    assert revisions_of(finished / "out").numbers() == [1, 2, 3]
    assert run(finished) == 0
    assert tree(finished / "out") == before


def test_a_reader_stays_with_the_revision_that_it_opened(finished: Path) -> None:
    reader = Run(finished / "out")
    assert run(finished, LESS) == 0
    assert run(finished, "shard.target_bytes=1") == 0
    assert len(list(reader.documents())) == 2
    held = Run(finished / "out")
    assert run(finished, LESS) == 0
    assert len(list(held.documents())) == len(held) == 2


def test_one_that_keeps_nothing_is_not_made_current_unasked(
    finished: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tree(finished / "out")
    answers = iter([True, None])
    monkeypatch.setattr("obelics_pipeline.jobs.display.Display.agrees", lambda _self, _question: next(answers))
    assert run(finished, NOTHING, yes=False) == 2
    line = capsys.readouterr().err
    assert "revision 2 of" in line and "keeps no document, where the current one keeps 2" in line
    assert "--use 2, or --drop 2" in line and line.count("\n") == 1
    assert tree(finished / "out") == before
    assert "kept" in shown(finished, capsys)[1]
    assert shown(finished, capsys, "--use", "2")[1].startswith("*   2  current")
    assert documents(finished / "out") == 0
    assert shown(finished, capsys, "--use", "1")[0].startswith("*   1  current")
    assert tree(finished / "out") == before


def test_one_is_made_current_in_the_place_of_a_damaged_one(finished: Path, tmp_path: Path) -> None:
    assert main([*arguments([finished / "in.warc"], finished / "out", LESS), "--yes", "--stage", "extract"]) == 0
    (finished / "out/manifest.json").write_text("{")
    assert run(finished, LESS) == 0
    assert revisions_of(finished / "out").current_number() == 2
    fresh = tmp_path / "fresh"
    assert main(arguments([finished / "in.warc"], fresh, LESS)) == 0
    assert tree(finished / "out") == tree(fresh)


def test_one_that_was_interrupted_goes_on_and_the_finished_one_stays_readable(
    finished: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments([finished / "in.warc"], finished / "out", LESS), "--yes", "--stage", "extract"]) == 0
    assert revisions_of(finished / "out").current_number() == 1
    assert documents(finished / "out") == 2
    assert main(["validate", str(finished / "out")]) == 0
    assert "unfinished" in shown(finished, capsys)[1]
    for file in (finished / "out/revisions/2/extract").glob("*.parquet"):
        held = file.read_bytes()
        file.write_bytes(held[:-1])
        assert main(["validate", "--deep", str(finished / "out")]) == 0, "of the current one alone"
        assert main(["validate", "--deep", str(finished / "out/revisions/2")]) == 1
        file.write_bytes(held)
    assert main(["revisions", str(finished / "out"), "--use", "2"]) == 2
    assert "is not finished" in capsys.readouterr().err
    assert run(finished, LESS, yes=False) == 0
    assert revisions_of(finished / "out").current_number() == 2
    assert revisions_of(finished / "out").numbers() == [1, 2]


def test_revisions_are_listed_and_removed(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for value in (LESS, "shard.target_bytes=1", NOTHING):
        assert run(finished, value) == 0
    (finished / "out/input").mkdir()
    (finished / "out/input/in.warc").write_bytes(bytes(10**7))  # of the whole run
    lines = shown(finished, capsys)
    assert [line[:6] for line in lines] == ["    1 ", "    2 ", "    3 ", "*   4 "]
    assert "config default: 2 documents in 1 shard," in lines[0]
    assert [line[:6] for line in shown(finished, capsys, "--drop", "2")] == ["    1 ", "    3 ", "*   4 "]
    assert [line[:6] for line in shown(finished, capsys, "--keep", "2")] == ["    3 ", "*   4 "]
    kept = tree(finished / "out") | {"input/in.warc": hashlib.sha256(bytes(10**7)).hexdigest()}
    (line,) = shown(finished, capsys, "--keep", "1")
    assert line.startswith("*   1 ")
    assert float(line.split()[-6]) < 1  # MB
    assert tree(finished / "out") == kept
    assert not (finished / "out" / "revisions").exists()


@pytest.mark.parametrize(
    ("how", "what"),
    [
        (["--drop", "1"], "revision 1: is the current one"),
        (["--drop", "7"], "revision 7: is not there; there are 1"),
        (["--use", "7"], "revision 7: is not there"),
        (["--keep", "0"], "0"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    how: list[str], what: str, finished: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = tree(finished / "out")
    try:
        code = main(["revisions", str(finished / "out"), *how])
    except SystemExit as stop:
        code = int(stop.code or 0)
    assert code == 2
    said = capsys.readouterr().err
    assert what in said
    assert said.count("\n") == 1
    assert tree(finished / "out") == before
    assert main(["revisions", str(finished)]) == 2
    assert "no run here" in capsys.readouterr().err


def test_other_shards_are_asked_about_before_the_manifest_goes(finished: Path) -> None:
    before = tree(finished / "out")
    assert run(finished, "shard.format=open_flamingo", yes=False) == 2
    assert tree(finished / "out") == before


def test_the_card_lies_in_the_folder_and_stays_there(finished: Path) -> None:
    assert run(finished, LESS) == 0
    assert main(["card", str(finished / "out")]) == 0
    said = (finished / "out/README.md").read_text()
    assert main(["revisions", str(finished / "out"), "--keep", "1"]) == 0
    assert (finished / "out/README.md").read_text() == said


def test_nothing_is_forgotten_in_one_revision_alone(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(finished, LESS) == 0
    urls = finished / "urls.txt"
    urls.write_text("https://pages.example/bench\n")
    assert main(["forget", str(finished / "out"), "--urls", str(urls)]) == 2
    assert "obelics revisions" in capsys.readouterr().err
    assert main(["revisions", str(finished / "out"), "--keep", "1"]) == 0
    assert main(["forget", str(finished / "out"), "--urls", str(urls)]) == 0
