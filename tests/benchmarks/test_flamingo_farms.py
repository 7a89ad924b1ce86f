"""Thresholds and statistics are chosen on one half of the documents, and told of the other."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from benchmarks import flamingo_farms as farms


def rows(seed: int = 0, shift: float = 4.0) -> list[dict[str, Any]]:
    """Of `found`, generated documents have more; `flamingo_loss` is far off on either side; `noise` says nothing."""
    random = Random(seed)
    kinds = [("clean", 0, 300), ("hard_verse", 0, 60), ("a_one5", 1, 60), ("a_two5", 1, 60), ("chains", 1, 60)]
    return [
        {
            "id": f"{name}{i}",
            "label": label,
            "generator": name,
            "type_token_ratio": random.gauss(0, 1) + shift * label,
            "flamingo_loss": random.gauss(0, 1) + label * random.choice((-8, 8)),
            "flamingo_image_gain": random.gauss(0, 1) if i % 2 else None,
        }
        for name, label, count in kinds
        for i in range(count)
    ]


def test_each_document_is_in_one_half_and_the_same_one_in_every_run() -> None:
    halves = farms.Halves.of(rows())
    parts = [{row["id"] for of in half.values() for row in of} for half in (halves.choosing, halves.telling)]
    assert not parts[0] & parts[1] and len(parts[0]) + len(parts[1]) == len(rows())
    assert farms.Halves.of(list(reversed(rows()))).telling.keys() == halves.telling.keys()
    assert {len(part) > 200 for part in parts} == {True}


def test_a_rule_is_chosen_without_a_look_at_the_telling_half() -> None:
    halves = farms.Halves.of(rows())
    other = farms.Halves(
        halves.choosing, {n: [dict(r, flamingo_loss=99) for r in of] for n, of in halves.telling.items()}
    )
    one, two = (farms.best_rule("flamingo_loss", h, 0.01) for h in (halves, other))
    assert (one.side, one.threshold, one.chosen_by) == (two.side, two.threshold, two.chosen_by)


def test_the_side_is_found_on_which_a_score_is_suspicious() -> None:
    halves = farms.Halves.of(rows())
    low = farms.Halves.of([dict(r, type_token_ratio=-r["type_token_ratio"]) for r in rows()])
    assert farms.best_rule("type_token_ratio", halves, 0.01).side == "high"
    assert farms.best_rule("type_token_ratio", low, 0.01).side == "low"
    both = farms.best_rule("flamingo_loss", halves, 0.01)
    assert both.side == "both" and both.caught(halves.telling["chains"]) > 0.9


def test_a_document_without_a_score_is_kept() -> None:
    halves = farms.Halves.of(rows())
    rule = farms.best_rule("flamingo_image_gain", halves, 0.01)
    assert rule.caught([{"flamingo_image_gain": None}]) == 0


def test_the_report_marks_what_was_chosen_and_has_a_row_for_each_generator() -> None:
    lines = list(farms.report(rows(), 0.01))
    assert [line.split()[0] for line in lines if line.endswith(" *")] == ["flamingo_loss", "type_token_ratio"]
    for name in ("a_one5", "a_two5", "chains", "hard_verse", "clean"):
        assert any(line.startswith(name) for line in lines)


def test_a_regression_has_not_seen_the_family_that_it_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    halves = farms.Halves.of(rows())
    taught: list[int] = []

    def watched(honest: Any, generated: Any, of: Any = farms.logistic) -> Any:
        taught.append(len(generated))
        return of(honest, generated)

    monkeypatch.setattr(farms, "logistic", watched)
    (share,) = farms.taught_shares(["type_token_ratio", "flamingo_loss"], halves, "a_one5", 0.01)
    assert taught == [len(halves.choosing["chains"])] and share > 0.8


def test_a_regression_of_scores_that_say_nothing_finds_nothing() -> None:
    halves = farms.Halves.of(rows(shift=0.0))
    (share,) = farms.taught_shares(["type_token_ratio"], halves, "chains", 0.01)
    assert share < 0.2
