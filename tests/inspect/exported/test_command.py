"""An export is the same each time, goes on where it was stopped, touches nothing of others, and is read back."""

from __future__ import annotations

import errno
import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.errors import Stopped, UserError
from obelics_pipeline.core.shards.manifest import read_manifest
from obelics_pipeline.core.shards.run_index import PartBounds
from obelics_pipeline.core.storage import file_sha256, names_in
from obelics_pipeline.inspect.exported import command
from obelics_pipeline.inspect.exported.command import LIST, export_files
from obelics_pipeline.inspect.exported.file_writer import FileWriter
from obelics_pipeline.inspect.exported.format import Format
from obelics_pipeline.inspect.exported.formats import FORMATS
from obelics_pipeline.inspect.published.parts import Part
from tests.core.storage.conftest import new_bucket
from tests.stages.shard.runs import make_run

TARS = FORMATS["webdataset"]


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def writer(run: Path, output: Path, format: Format = TARS) -> FileWriter:
    return FileWriter(format, run, PartBounds.of(read_manifest(run)), output, output / ".notes", "x")


@pytest.mark.parametrize("format", FORMATS.values(), ids=lambda format: format.name)
def test_equal_runs_give_equal_bytes(small_run: Path, tmp_path: Path, format: Format) -> None:
    part = Part(format.file.format(number=0), 0, 12)
    for name in ("once", "again"):
        assert writer(small_run, tmp_path / name, format)(part).documents == 12
    assert file_sha256(tmp_path / "once" / part.name) == file_sha256(tmp_path / "again" / part.name)


def test_a_second_command_changes_nothing_and_one_that_was_stopped_goes_on(
    small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    output = tmp_path / "out"
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(command, "_names", lambda _: stop() if names_in(output) else command.re.compile("x"))
        export_files(small_run, output, TARS, shards=2, workers=1)
    assert not (output / LIST).exists()
    before = {path.name: path.stat().st_ino for path in output.glob("*.tar")}
    assert len(before) == 2
    export_files(small_run, output, TARS, shards=2, workers=1)
    once = files(output)
    assert {path.name: path.stat().st_ino for path in output.glob("*.tar")} == before
    assert sorted(once) == [LIST, "shard-000000.tar", "shard-000001.tar"]
    export_files(small_run, output, TARS, shards=2, workers=1)
    assert files(output) == once
    assert {path.name: path.stat().st_ino for path in output.glob("*.tar")} == before


def test_files_of_an_export_with_more_of_them_go(small_run: Path, tmp_path: Path) -> None:
    export_files(small_run, tmp_path / "out", TARS, shards=3, workers=1)
    export_files(small_run, tmp_path / "out", TARS, workers=1)
    assert names_in(tmp_path / "out") == [LIST, "shard-000000.tar"]
    assert [entry["documents"] for entry in json.loads((tmp_path / "out" / LIST).read_text("utf-8"))["files"]] == [12]


@pytest.mark.parametrize("name", ["notes.txt", "other.tar", "index.json"])
def test_what_others_wrote_is_not_touched(small_run: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).write_text("mine")
    with pytest.raises(UserError, match=f"holds {name}, which --format webdataset did not write; give an empty or new"):
        export_files(small_run, tmp_path / "out", TARS, workers=1)
    assert files(tmp_path / "out") == {name: b"mine"}


def test_an_export_in_another_format_is_not_touched(small_run: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / LIST).write_text('{"name": "mint1t", "files": []}')
    with pytest.raises(UserError, match=f"holds {LIST}, which --format webdataset did not write"):
        export_files(small_run, tmp_path / "out", TARS, workers=1)


@pytest.mark.parametrize("arguments", [["--shards", "13"], ["--columns", "url"]])
def test_what_cannot_be_is_refused_in_one_line(
    small_run: Path, tmp_path: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["export", str(small_run), "--format", "mds", "--output", str(tmp_path / "out"), *arguments]
    assert main(line) == 2
    assert capsys.readouterr().err.startswith(f"obelics: {arguments[0]}")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", [*FORMATS, "lance"])
def test_a_folder_that_is_no_run_is_refused_in_one_line(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(tmp_path), "--format", name, "--output", str(tmp_path / "out")]) == 2
    assert "no finished run here" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_run_without_documents_is_refused(tmp_path: Path) -> None:
    make_run(tmp_path / "run", [])
    with pytest.raises(UserError, match="has 0 documents, and no file may be empty"):
        export_files(tmp_path / "run", tmp_path / "out", TARS)


def test_a_damaged_tar_ends_in_one_line_and_leaves_no_file(small_run: Path, tmp_path: Path) -> None:
    shutil.copytree(small_run, tmp_path / "run")
    tar = tmp_path / "run/shards/shard-000002.tar"
    tar.write_bytes(tar.read_bytes().replace(b"Paragraph", b"paragraph", 1))
    with pytest.raises(UserError, match=r"shard-000002.tar: cannot be read .*obelics validate"):
        export_files(tmp_path / "run", tmp_path / "out", TARS, workers=1)
    assert names_in(tmp_path / "out") == []


def test_a_file_that_does_not_read_as_it_was_written_is_not_kept(small_run: Path, tmp_path: Path) -> None:
    part = Part("shard-000000.tar", 0, 12)
    with pytest.raises(Stopped, match="holds 11 documents, 12 were written; run the same command again"):
        writer(small_run, tmp_path / "out", replace(TARS, count=lambda _: 11))(part)
    assert names_in(tmp_path / "out") == []


def test_a_full_disk_ends_the_command_and_leaves_no_file(small_run: Path, tmp_path: Path) -> None:
    def full(path: Path, _: object) -> None:
        path.write_bytes(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    with pytest.raises(OSError, match="No space left"):
        writer(small_run, tmp_path / "out", replace(TARS, write=full))(Part("shard-000000.tar", 0, 12))
    assert names_in(tmp_path / "out") == []


def test_an_export_goes_to_an_object_store(small_run: Path, s3: str, tmp_path: Path) -> None:
    target = new_bucket("exported") / "out"
    mds = FORMATS["mds"]
    export_files(small_run, target, mds, shards=2, workers=1)
    export_files(small_run, tmp_path / "out", mds, shards=2, workers=1)
    assert {name: (target / name).read_bytes() for name in names_in(target)} == files(tmp_path / "out")
