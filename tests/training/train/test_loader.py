from __future__ import annotations

import pytest

pytest.importorskip("torch")

from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.training.train.loader import FILLER, dealt


@given(st.lists(st.integers(0, 10**6), max_size=40, unique=True), st.integers(1, 5), st.integers(1, 7))
def test_the_processes_of_a_step_take_each_row_once(rows: list[int], world: int, per_batch: int) -> None:
    taken = [n for rank in range(world) for batch in dealt(rows, rank, world, per_batch) for n in batch if n != FILLER]
    assert sorted(taken) == sorted(rows)


@given(st.lists(st.integers(0, 10**6), max_size=40, unique=True), st.integers(1, 5), st.integers(1, 7))
def test_all_processes_run_equally_many_full_micro_batches(rows: list[int], world: int, per_batch: int) -> None:
    batches = [dealt(rows, rank, world, per_batch) for rank in range(world)]
    assert len({len(of_rank) for of_rank in batches}) == 1
    assert all(len(batch) == per_batch for of_rank in batches for batch in of_rank)
    assert all(of_rank for of_rank in batches)
