"""The benchmark of explain-spike runs from end to end on the demo's documents, and tells a table."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import numpy as np

from benchmarks import explaining
from benchmarks.planted.pages import KINDS

TEXT = "The ferry left the harbour before the fog had lifted, and two gulls sat on the rail of the old boat."


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_of_bad_page_is_long_enough_and_drawn_from_a_seed(kind: str) -> None:
    made = [KINDS[kind](np.random.default_rng(seed), TEXT) for seed in (1, 1, 2)]
    assert made[0] == made[1] != made[2]
    assert len(made[0]) >= len(TEXT)


@pytest.mark.slow
def test_trials_are_counted_by_kind(
    run_of_demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--trials", "2", "--steps", "20", "--width", "32", "--work", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["explaining.py", str(run_of_demo), *options])
    explaining.main()
    said = capsys.readouterr().out.splitlines()
    assert said[-1].split()[:2] == ["all", "2"]
    assert [line.split(",")[0] for line in said[:2]] == list(KINDS)[:2]
