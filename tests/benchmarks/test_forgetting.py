"""The benchmark of forgetting makes a run that can be forgotten from, and says what it took."""

from pathlib import Path

import pytest

from benchmarks.forgetting import make, measure, write_lists


@pytest.mark.slow
def test_a_small_run_is_made_and_forgotten_from(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make(tmp_path / "run", 60, 20)
    arguments = [*write_lists(tmp_path, 60, 3, 0), "--workers", "1"]
    measure(tmp_path / "run", 60, arguments, Path(__file__).parents[2])
    said = capsys.readouterr().out
    assert "60 documents" in said
    assert "removed: 3 documents" in said
    assert "MB written" in said
