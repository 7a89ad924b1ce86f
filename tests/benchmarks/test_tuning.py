"""The benchmark of the page asks every question of a folder that it makes."""

from pathlib import Path

import pytest

from benchmarks import tuning


def test_every_question_is_asked_and_timed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tuning, "TIMES", 1)
    tuning.make(tmp_path / "run", 40)
    tuning.ask(tmp_path / "run")
    told = capsys.readouterr().out
    assert told.startswith("40 documents")
    assert "1,200 paragraphs, 200 images" in told
    assert told.count("the slowest") == 12
