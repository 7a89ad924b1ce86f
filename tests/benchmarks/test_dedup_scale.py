"""The benchmark of deduplication must plant what it says, and see what is lost."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks import dedup_scale
from benchmarks.dedup_scale import LARGE, SINGLE, Corpus, run


def test_what_is_planted_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(5000, tmp_path)
    *_, last = capsys.readouterr().out.splitlines()
    assert last.endswith("precision 1.000000 (0 wrong)")
    assert float(last.split()[1].rstrip(",")) > 0.99
    assert not list((tmp_path / "messages").iterdir())  # steps remove what they have read


def test_what_is_lost_is_seen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dedup_scale, "SETTINGS", dedup_scale.SETTINGS.model_copy(update={"threshold": 0.99}))
    run(2000, tmp_path)
    assert float(capsys.readouterr().out.splitlines()[-1].split()[1].rstrip(",")) < 0.5


def test_wrong_edges_are_seen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dedup_scale, "SETTINGS", dedup_scale.SETTINGS.model_copy(update={"threshold": 0.3}))
    run(10_000, tmp_path)
    assert " 0 wrong" not in capsys.readouterr().out.splitlines()[-1].replace("(", " ")


def test_numbers_and_places_are_one_to_one() -> None:
    corpus = Corpus(3000)
    numbers = corpus.numbers(np.arange(3000))
    assert sorted(numbers.tolist()) == list(range(3000))
    kind, group = corpus.group_of(numbers)
    planted = sum(corpus.planted().values())
    sizes = np.unique(group[(kind != SINGLE) & (kind != dedup_scale.UNLIKE)], return_counts=True)[1]
    assert int((sizes - 1).sum()) == planted
    assert (group[kind == LARGE] == -1).all()
