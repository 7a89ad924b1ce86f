"""What a person can mend is said in one line."""

import sys
from pathlib import Path

import pytest

from obelics_pipeline.cli.main import main

from .planted import made_document, run_folder


def test_what_is_no_run_is_refused_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["map", str(tmp_path)]) == 2
    assert "not the folder of a run" in capsys.readouterr().err


def test_without_the_extra_it_is_said_what_to_install(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run_folder(tmp_path, [[made_document(1, "one text")]])
    for name in [name for name in sys.modules if name.startswith("obelics_pipeline.inspect.map")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "openTSNE", None)
    assert main(["map", str(tmp_path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()[-1:]
    assert "pip install 'obelics-pipeline[tune]'" in line
    assert not (tmp_path / "map").exists()


def test_a_text_file_that_is_gone_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_folder(tmp_path, [[made_document(1, "one text")]])
    (damaged,) = (tmp_path / "extract").glob("*.parquet")
    damaged.write_bytes(damaged.read_bytes()[:50])
    assert main(["map", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith("obelics: ")
