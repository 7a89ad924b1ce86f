from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.training.train.state.cursor import RowOrder, row_order, rows_of_rank
from obelics_pipeline.training.train.state.entries import RequeueRows, Rollback, SkipRows
from obelics_pipeline.training.train.state.ledger import Holding, Ledger, holdings

N = 60
RANGES = st.lists(st.tuples(st.integers(0, N - 1), st.integers(1, 12)), max_size=4).map(
    lambda pairs: [(start, min(start + length, N)) for start, length in pairs]
)


def order_of(skips: list, requeues: list, n_rows: int = N) -> RowOrder:
    common = {"number": 1, "attempt": 1, "step": 0}
    skip = [Holding(SkipRows(**common, start=a, stop=b), 1) for a, b in skips]
    requeue = [Holding(RequeueRows(**common, start=a, stop=b), 1) for a, b in requeues]
    return row_order(n_rows, [*skip, *requeue])


def all_rows(order: RowOrder, rows_per_step: int, cursor: int = 0) -> list[tuple[int, ...]]:
    steps = []
    while (step := order.step(cursor, rows_per_step)).rows:
        steps.append(step.rows)
        cursor = step.next_cursor
    return steps


@given(RANGES, RANGES, st.integers(1, 20))
def test_nothing_is_lost_and_nothing_repeated_but_by_wish(skips: list, requeues: list, rows_per_step: int) -> None:
    steps = all_rows(order_of(skips, requeues), rows_per_step)
    skipped = {row for start, stop in skips for row in range(start, stop)}
    wanted = Counter(row for row in range(N) if row not in skipped)
    wanted += Counter(row for start, stop in requeues for row in range(start, stop))
    assert Counter(row for step in steps for row in step) == wanted
    assert all(len(step) == rows_per_step for step in steps[:-1])


@given(RANGES, RANGES, st.integers(1, 20), st.integers(0, 30))
def test_a_run_resumed_at_any_cursor_takes_the_same_steps(
    skips: list, requeues: list, rows_per_step: int, stop: int
) -> None:
    order = order_of(skips, requeues)
    steps, cursor = all_rows(order, rows_per_step), 0
    for _ in range(min(stop, len(steps))):
        cursor = order.step(cursor, rows_per_step).next_cursor
    assert all_rows(order_of(skips, requeues), rows_per_step, cursor) == steps[stop:]
    assert order.left(cursor) == sum(map(len, steps[stop:]))


@given(st.integers(1, 40), st.integers(1, 9), st.integers(1, 5))
def test_any_ranks_and_workers_share_the_same_step(n_rows: int, ranks: int, workers: int) -> None:
    rows = RowOrder(n_rows).step(0, 16).rows
    by_rank = [rows_of_rank(rows, rank, ranks) for rank in range(ranks)]
    dealt = [rows_of_rank(of_rank, worker, workers) for of_rank in by_rank for worker in range(workers)]
    assert sorted(row for part in dealt for row in part) == sorted(rows)
    assert max(map(len, by_rank)) - min(map(len, by_rank)) <= 1


def test_in_the_last_step_a_rank_may_get_none() -> None:
    step = RowOrder(17).step(16, 8)
    assert (step.rows, step.next_cursor) == ((16,), 17)
    assert [rows_of_rank(step.rows, rank, 2) for rank in range(2)] == [(16,), ()]
    assert RowOrder(17).step(17, 8).rows == ()


def test_skipped_rows_are_jumped_over_and_the_cursor_stays_where_the_step_began() -> None:
    step = order_of([(2, 5), (5, 7)], []).step(1, 3)
    assert (step.cursor, step.rows, step.next_cursor) == (1, (1, 7, 8), 9)


def test_rows_of_the_tail_can_be_put_to_the_end_once_more() -> None:
    order = order_of([], [(3, 5), (11, 12)], n_rows=10)
    assert [order.row(position) for position in range(10, 13)] == [3, 4, 4]
    with pytest.raises(IndexError, match="position 13 of 13"):
        order.row(13)


def test_rows_that_are_not_there_cannot_be_put_to_the_end() -> None:
    with pytest.raises(UserError, match="puts rows 8:11 to the end, and there are 10"):
        order_of([], [(8, 11)], n_rows=10)


def test_the_rows_of_a_rollback_are_left_out_until_it_is_undone(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.append("start", attempt=1, step=0)
    ledger.append("rollback", attempt=2, step=9, parent=1, from_step=4, to_step=4, cursor=8, rows=[10, 14])
    assert isinstance(ledger.entries[1], Rollback)
    assert row_order(20, holdings(ledger.entries)).step(8, 4).rows == (8, 9, 14, 15)
    ledger.append("undo", attempt=2, step=4, of=2)
    assert row_order(20, holdings(ledger.entries)).step(8, 4).rows == (8, 9, 10, 11)


def test_an_undone_requeue_moves_no_position(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.append("start", attempt=1, step=0)
    ledger.append("requeue_rows", attempt=1, step=1, start=0, stop=2)
    ledger.append("requeue_rows", attempt=1, step=1, start=5, stop=6)
    ledger.append("undo", attempt=1, step=2, of=2)
    order = row_order(10, holdings(ledger.entries))
    assert (order.row(12), order.step(10, 4).rows) == (5, (5,))
