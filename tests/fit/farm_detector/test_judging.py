"""What a forest finds of a family that it has not seen is what other families look like."""

from __future__ import annotations

import numpy as np
import pytest

from obelics_pipeline.fit.farm_detector import judging
from obelics_pipeline.fit.farm_detector.judging import Judged, recalls, recalls_without_each, scores_of_unseen

pytest.importorskip("lightgbm")

FAR = {"twin_a": (6.0, 0.0), "twin_b": (6.0, 0.0), "alone": (0.0, 6.0)}  # from honest documents, on two numbers


def judged(*families: str, count: int = 1200) -> Judged:
    """Every other document is honest, as `make_judged` makes them."""
    random = np.random.default_rng(1)
    made = [None if i % 2 else families[i // 2 % len(families)] for i in range(count)]
    off = np.array([FAR[family] if family else (0.0, 0.0) for family in made])
    return Judged(made, ("one", "other"), (random.normal(size=(count, 2)) + off).astype(np.float32))


@pytest.fixture(autouse=True)
def few_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "_TREES", 60)


def test_a_family_is_found_by_a_forest_that_saw_one_like_it_and_hardly_by_others() -> None:
    documents = judged("twin_a", "twin_b", "alone")
    told = list(recalls_without_each(documents))
    assert [(family, count) for family, count, _ in told] == [("alone", 200), ("twin_a", 200), ("twin_b", 200)]
    found = {family: recall for family, _, recall in told}
    assert found["alone"] < 0.1
    assert min(found["twin_a"], found["twin_b"]) > 0.8
    with_it = {family: recall for family, _, recall in recalls(documents, scores_of_unseen(documents))}
    assert with_it["alone"] > 0.8


def test_no_forest_sees_the_family_that_is_told_nor_the_honest_ones_of_its_threshold(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    documents, seen = judged("twin_a", "alone", count=500), []
    fit = judging._fit
    monkeypatch.setattr(judging, "_fit", lambda of, rows: seen.append(rows) or fit(of, rows))
    told = [family for family, _, _ in recalls_without_each(documents)]
    assert len(seen) == len(told) == 2
    for family, rows in zip(told, seen, strict=True):
        assert not (rows & documents.of(family)).any()
        assert not rows[400:].any()
        assert rows[:400].sum() == 300


def test_without_a_second_family_there_is_nothing_to_learn_from() -> None:
    assert list(recalls_without_each(judged("alone", count=200))) == []
