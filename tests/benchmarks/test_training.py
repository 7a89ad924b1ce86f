"""The benchmarks of training run from end to end on tiny models, and count what is computed."""

import sys
from itertools import islice

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from benchmarks import training, training_gpu
from benchmarks.training_model import SMALL, batches


def test_made_rows_are_full_and_every_image_is_looked_at() -> None:
    [batch] = islice(batches(SMALL, 700, 3), 1)
    packed = batch.packed
    assert int((packed.segment < 0).sum()) <= 3
    assert packed.n_spans >= 4
    assert len(packed.pictures) == int((packed.ids == SMALL.words + 1).sum()) == int((packed.picture_of >= 0).sum())
    assert not packed.target[packed.position == 0].any()


def test_an_interval_holds_its_median() -> None:
    low, high = training.interval([1.0, 1.1, 1.2, 1.3, 5.0])
    assert 1.0 <= low <= 1.2 <= high <= 5.0


@pytest.mark.slow
def test_the_cost_of_watching_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["training.py", "--small", "--repeat", "2"])
    training.main()
    said = capsys.readouterr().out
    assert "losses per document: " in said
    assert "monitors: a sampled step " in said
    assert "together " in said


@pytest.mark.slow
def test_the_script_for_a_gpu_runs_small_on_a_cpu(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["training_gpu.py", "--small"])
    training_gpu.main()
    assert "tokens per second" in capsys.readouterr().out
