"""An error of a disk that nothing else knew is one line, with the exit code that says whether to mend or to go on."""

import errno
import os
import shutil
from pathlib import Path

import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.errors import Stopped, UserError, answer_to
from tests.small import arguments, write_warc


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cli")
    assert main(arguments([write_warc(folder / "in.warc")], folder / "out")) == 0
    return folder / "out"


@pytest.mark.parametrize("format_", ["parquet", "open_flamingo"])
@pytest.mark.parametrize("place", ["file", "file/below", "x" * 300, "/proc/nowhere"])
def test_an_export_to_a_bad_place_is_one_line(
    format_: str, place: str, finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("mine")
    assert main(["export", str(finished), "--format", format_, "--output", str(tmp_path / place)]) == 2
    line = capsys.readouterr().err
    assert line.count("\n") == 1, line
    assert (tmp_path / "file").read_text() == "mine"


def test_a_damaged_file_of_sizes_says_what_to_do(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "cli"
    shutil.copytree(finished.parent, folder, copy_function=shutil.copy2)
    (sizes,) = (folder / "out" / "assembled" / "sizes").iterdir()
    sizes.write_bytes(bytes(sizes.stat().st_size))
    command = arguments([folder / "in.warc"], folder / "out")
    capsys.readouterr()
    if main(command) == 2:  # where the damage is not found before it is read
        line = capsys.readouterr().err
        assert (line.count("\n"), str(sizes) in line) == (1, True), line
        sizes.unlink()
        assert main(command) == 0
    assert main(["validate", str(folder / "out")]) == 0


def test_what_a_person_can_mend_is_told_from_what_is_full_and_from_what_is_a_bug() -> None:
    def error(number: int, name: str | None = "x") -> OSError:
        return OSError(number, os.strerror(number), name)

    assert isinstance(answer_to(error(errno.ENOSPC)), Stopped)
    assert isinstance(answer_to(error(errno.EROFS)), UserError)
    assert answer_to(error(errno.EIO)) is None
    assert isinstance(answer_to(error(errno.EIO, "s3://bucket/x")), Stopped)
    assert answer_to(error(errno.ENOENT, None)) is None
