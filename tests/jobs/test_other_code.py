"""A run that goes on with another version of the code makes again what that touches, and asks where it was finished."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.core import code_identity
from tests.faults.inline import runs_inline
from tests.small import arguments, write_warc

CACHED = ("code_of", "_content")


@pytest.fixture(autouse=True)
def in_this_process() -> Iterator[None]:
    with runs_inline():
        yield
    forget()


def forget() -> None:
    for name in CACHED:
        getattr(code_identity, name).cache_clear()


def edit(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """From here on a source file is another."""
    real = code_identity._content
    monkeypatch.setattr(code_identity, "_content", lambda path: "edited" if str(path).endswith(name) else real(path))
    code_identity.code_of.cache_clear()


def units(output: Path, stage: str) -> set[str]:
    return {path.name for path in (output / stage / "manifests").iterdir()}


def test_a_finished_run_is_left_until_a_person_agrees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = arguments([write_warc(tmp_path / "in.warc", ["bench"])], tmp_path / "out")
    assert main(command) == 0
    before = units(tmp_path / "out", "extract")
    edit(monkeypatch, "stages/extract/compose.py")
    assert main(command) == 2
    assert "because of code of extract" in capsys.readouterr().err
    assert units(tmp_path / "out", "extract") == before
    assert main([*command, "--yes"]) == 0
    assert units(tmp_path / "out", "extract").isdisjoint(before)


def test_code_that_makes_no_document_redoes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = arguments([write_warc(tmp_path / "in.warc", ["bench"])], tmp_path / "out")
    assert main(command) == 0
    before = {stage: units(tmp_path / "out", stage) for stage in ("extract", "assembled", "shards")}
    edit(monkeypatch, "jobs/display.py")
    assert main(command) == 0
    assert {stage: units(tmp_path / "out", stage) for stage in before} == before
