"""A finished run is changed only where a person agrees; a run that keeps nothing is finished too, and can be undone."""

import json
import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from obelics_pipeline.cli.main import main
from tests.faults.inline import runs_inline
from tests.faults.runs import ROOT, tree
from tests.small import THINGS, arguments, write_warc

NOTHING = "filters.document={word_count: {min: 9999}}"
LESS = "filters.document={word_count: {min: 11}}"


@pytest.fixture(scope="module", autouse=True)
def in_this_process() -> Iterator[None]:
    with runs_inline():
        yield


@pytest.fixture(scope="module")
def base(in_this_process: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an input, and a finished run over it."""
    folder = tmp_path_factory.mktemp("claim")
    assert main(arguments([write_warc(folder / "in.warc")], folder / "out")) == 0
    return folder


@pytest.fixture
def finished(base: Path, tmp_path: Path) -> Path:
    """The same, to be changed."""
    return Path(shutil.copytree(base, tmp_path / "run", copy_function=shutil.copy2))


def command(folder: Path, *sets: str) -> list[str]:
    return arguments([folder / "in.warc"], folder / "out", *sets)


def everything(folder: Path) -> dict[str, object]:
    """The content and the time of every file of a run's folder, bookkeeping too."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name not in (".lock", ".workers")]
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def test_a_slip_of_a_value_leaves_a_finished_run_as_it_was(capsys: pytest.CaptureFixture[str], finished: Path) -> None:
    before = everything(finished)
    assert main(command(finished, NOTHING)) == 2
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    assert "holds a finished run" in line
    assert "filters.document.word_count.min: 10.0 -> 9999.0" in line
    assert "--yes" in line
    assert everything(finished) == before


def test_a_stage_that_is_left_out_takes_nothing_from_a_finished_run(tmp_path: Path) -> None:
    warc = write_warc(tmp_path / "in.warc")
    assert main(arguments([warc], tmp_path / "out", "dedup.enabled=true")) == 0
    before = everything(tmp_path)
    assert main(arguments([warc], tmp_path / "out")) == 2
    assert everything(tmp_path) == before


def test_other_input_takes_nothing_from_a_finished_run(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = everything(finished / "out")
    more = write_warc(finished / "more.warc", ["sundial"])
    assert main(arguments([finished / "in.warc", more], finished / "out")) == 2
    assert "--input: 1 new (more.warc)" in capsys.readouterr().err
    write_warc(finished / "in.warc", THINGS[:2])
    assert main(command(finished)) == 2
    assert "--input: 1 replaced (in.warc)" in capsys.readouterr().err
    assert everything(finished / "out") == before


def test_a_value_that_touches_nothing_is_not_asked_about(finished: Path) -> None:
    before = tree(finished / "out")
    assert main(command(finished, "fetch.threads=3", "ray.cpus_per_unit=2")) == 0
    after = tree(finished / "out")
    assert after.pop("config.yaml") != before.pop("config.yaml")
    assert after == before


def test_an_unfinished_run_goes_on_with_other_values(tmp_path: Path) -> None:
    warc = write_warc(tmp_path / "in.warc")
    assert main([*arguments([warc], tmp_path / "out"), "--stage", "extract"]) == 0
    assert main(arguments([warc], tmp_path / "out", LESS)) == 0


@pytest.mark.parametrize(("said", "code"), [("n", 2), ("y", 0)])
def test_a_person_at_a_terminal_is_asked(said: str, code: int, finished: Path) -> None:
    before = everything(finished)
    ours, theirs = pty.openpty()
    environment = os.environ | {"PYTHONPATH": str(ROOT), "TERM": "xterm"}
    program = [sys.executable, "-m", "obelics_pipeline", *command(finished, LESS)]
    with subprocess.Popen(program, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        os.write(ours, f"{said}\n".encode())  # it waits in the terminal until it is asked for
        printed = b""
        while piece := _read(ours):
            printed += piece
    os.close(ours)
    assert b"Continue? [y/N]" in printed
    assert process.returncode == code, printed.decode()
    assert (everything(finished) == before) == (code == 2)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # nobody has it open any more
        return b""


def test_a_run_that_keeps_nothing_is_a_finished_empty_corpus(
    finished: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = tree(finished / "out")
    capsys.readouterr()
    assert main([*command(finished, NOTHING), "--yes"]) == 0
    assert "warning: no document was kept" in capsys.readouterr().out
    manifest = json.loads((finished / "out" / "manifest.json").read_text())
    assert (manifest["counts"]["shards"], manifest["counts"]["documents"]) == (0, 0)
    assert list((finished / "out" / "shards").glob("*.tar")) == []
    assert main(["validate", str(finished / "out")]) == 0
    assert "valid: 0 shards, 0 documents" in capsys.readouterr().out
    empty = tree(finished / "out")
    assert main(command(finished, NOTHING)) == 0
    assert tree(finished / "out") == empty
    assert main(command(finished)) == 0  # nothing is published that could be lost: nobody is asked
    assert tree(finished / "out") == before


def test_a_run_that_keeps_nothing_from_the_start_is_finished(tmp_path: Path) -> None:
    warc = write_warc(tmp_path / "in.warc")
    assert main(arguments([warc], tmp_path / "out", NOTHING)) == 0
    assert main(["validate", str(tmp_path / "out")]) == 0


def test_a_run_of_fewer_shards_of_the_same_documents_is_valid(tmp_path: Path) -> None:
    inputs = [write_warc(tmp_path / name, [thing]) for name, thing in (("a.warc", "bench"), ("b.warc", "ladder"))]
    assert main(arguments(inputs, tmp_path / "out", "shard.target_bytes=1")) == 0
    assert len(list((tmp_path / "out" / "shards").glob("*.tar"))) == 2
    assert main([*arguments(inputs[:1], tmp_path / "out", "shard.target_bytes=1"), "--yes"]) == 0
    assert len(list((tmp_path / "out" / "shards").glob("*.tar"))) == 1
    assert main(["validate", str(tmp_path / "out")]) == 0


@pytest.mark.parametrize("moment", ["index.parquet", "manifest.json"])
def test_what_was_published_is_readable_until_an_empty_corpus_takes_its_place(moment: str, finished: Path) -> None:
    """The run is killed just before it writes the index, or the manifest, of nothing."""
    killer = (
        "import os, sys\n"
        "def hook(event, told):\n"
        f"    if event == 'os.rename' and str(told[1]).endswith({moment!r}): os._exit(9)\n"
        "sys.addaudithook(hook)\n"
        "from obelics_pipeline.cli.main import main\n"
        "main(sys.argv[1:])"
    )
    arguments_of = [*command(finished, NOTHING), "--yes"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    assert subprocess.run([sys.executable, "-c", killer, *arguments_of], env=environment, check=False).returncode == 9
    assert len(list((finished / "out" / "shards").glob("*.tar"))) == 1
    assert main(arguments_of) == 0
    assert main(["validate", str(finished / "out")]) == 0
