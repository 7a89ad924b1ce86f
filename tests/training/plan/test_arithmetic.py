from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.training.plan.arithmetic import Part, chronicle_arms, write_parts, write_slice
from obelics_pipeline.training.plan.plan_file import Ordered, PlanRow, open_plan

from .planned import planned


def rows(plan: Ordered, start: int = 0, stop: int | None = None) -> list[PlanRow]:
    """Rows, but for the numbers of their spans, which begin anew in a slice."""
    found = (plan.row(i) for i in range(start, plan.n_rows if stop is None else stop))
    return [PlanRow(row.dataset, row.spans, row.n_tokens, row.n_images, 0) for row in found]


def test_a_slice_is_the_rows_from_one_to_another(tmp_path: Path) -> None:
    plan = planned(tmp_path / "plan", repeat=2)
    part = write_slice(plan, 10, 30, tmp_path / "part")
    assert rows(part) == rows(plan, 10, 30)
    assert part.held_out is not None
    assert rows(part.held_out) == rows(plan.held_out or part)
    tokens = part.about["ledger"]["tokens"]
    assert tokens["dropped"] == 0
    assert tokens["left_out"]["not_in_this_part"] > 0
    inside = {span.document for row in rows(part) for span in row.spans}
    reasons = {n: part.document(n).reason for n in range(150)}
    assert {n for n, reason in reasons.items() if reason is None} == inside
    assert {reason for reason in reasons.values() if reason} == {"held_out", "not_in_this_part"}
    with pytest.raises(UserError, match="rows 10 to 9999 are not within it"):
        write_slice(plan, 10, 9999, tmp_path / "none")


def test_slices_put_together_are_the_plan_again(tmp_path: Path) -> None:
    plan = planned(tmp_path / "plan", repeat=3)
    cut = [write_slice(plan, a, b, tmp_path / f"{a}") for a, b in ((0, 16), (16, 17), (17, None))]
    again = write_parts([Part(part) for part in cut], tmp_path / "again")
    for name in ("rows.arrow", "spans.arrow", "held_out/rows.arrow", "held_out/spans.arrow", "documents.arrow"):
        assert again.about["sha256"][name] == plan.about["sha256"][name]


def test_the_arms_of_the_chronicles_come_from_one_plan(tmp_path: Path) -> None:
    plan = planned(tmp_path / "plan", n=400)
    arms = chronicle_arms(plan, tmp_path / "arms")
    opened = {name: [open_plan(path) for path in paths] for name, paths in arms.items()}
    assert {name: len(plans) for name, plans in opened.items()} == {
        "1234": 1, "1_2_3_4": 4, "1_1_1_1": 4, "1_1_1_1_in_one": 1,
    }  # fmt: skip
    assert len({part.n_rows for part in opened["1_2_3_4"]}) == 1
    assert opened["1_2_3_4"][0].n_rows % plan.rows_per_step == 0
    in_turn = [row for part in opened["1_2_3_4"] for row in rows(part)]
    assert rows(opened["1234"][0]) == in_turn == rows(plan, 0, len(in_turn))
    (first,) = {part.id for part in opened["1_1_1_1"]}
    assert first == opened["1_2_3_4"][0].id
    again = opened["1_1_1_1_in_one"][0]
    assert again.n_rows == opened["1234"][0].n_rows
    assert again.about["datasets"][0]["epochs"] == 4.0
    repeats = Counter(span.repeat for row in rows(again) for span in row.spans)
    assert set(repeats) == {0, 1, 2, 3}
    assert len(set(repeats.values())) == 1
    with pytest.raises(UserError, match="100 parts need one each"):
        chronicle_arms(plan, tmp_path / "more", parts=100)


def test_what_is_left_of_a_plan_and_then_new_data_is_a_plan(tmp_path: Path) -> None:
    old, new = planned(tmp_path / "old", seed=3), planned(tmp_path / "new", n=60, first=150)
    both = write_parts([Part(old, 20), Part(new)], tmp_path / "both")
    assert both.n_documents == 210
    assert rows(both, 0, old.n_rows - 20) == rows(old, 20)
    shifted = rows(both, old.n_rows - 20)
    assert [[s.document - 150 for s in row.spans] for row in shifted] == [
        [s.document for s in row.spans] for row in rows(new)
    ]
    assert both.document(150 + 7).doc_id == new.document(7).doc_id
    assert both.document(150 + 7).shard == new.document(7).shard
    assert both.held_out is not None
    assert both.held_out.n_rows == sum(p.held_out.n_rows for p in (old, new) if p.held_out)
    third = write_parts([Part(both, 5, 15), Part(both, 0, 5)], tmp_path / "third")
    assert third.n_documents == 210


def test_plans_that_do_not_fit_together_are_refused(tmp_path: Path) -> None:
    plan = planned(tmp_path / "plan")
    for values, message in (
        ({"tokenizer": "11"}, "its tokenizer is 11, that of .* is 00"),
        ({"sequence_tokens": 128}, "its sequence_tokens is 128"),
        ({"first": 149}, r"document doc_id-149 is in another of the plans too \(1 such\)"),
    ):
        other = planned(tmp_path / "other", **{"first": 150, **values})
        with pytest.raises(UserError, match=message):
            write_parts([Part(plan), Part(other)], tmp_path / "none")
