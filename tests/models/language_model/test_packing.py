from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.models.language_model.packing import rows


@given(st.lists(st.integers(1, 40)), st.integers(1, 60))
def test_each_window_is_in_one_row_and_no_row_is_too_long(lengths: list[int], most: int) -> None:
    made = rows(lengths, most)
    assert sorted(i for row in made for i in row) == list(range(len(lengths)))
    assert all(len(row) == 1 or sum(lengths[i] for i in row) <= most for row in made)


def test_the_longest_are_first_and_a_row_is_filled() -> None:
    assert rows([3, 9, 4, 2], 10) == [[1], [2, 0, 3]]


def test_rows_of_nothing_hold_one_window_each() -> None:
    assert rows([3, 3], 0) == [[0], [1]]
