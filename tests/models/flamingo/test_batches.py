from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.models.flamingo.batches import batches

SIZES = st.lists(st.tuples(st.integers(1, 50), st.integers(0, 5)), max_size=40)


@given(SIZES, st.integers(1, 200))
def test_each_row_is_in_one_batch_and_none_is_too_large(sizes: list[tuple[int, int]], room: int) -> None:
    found = batches(sizes, room)
    assert sorted(i for batch in found for i in batch) == list(range(len(sizes)))
    assert all(len(batch) == 1 or len(batch) * max(sizes[i][0] for i in batch) <= room for batch in found)


@given(SIZES, st.integers(1, 200))
def test_rows_come_the_longest_first(sizes: list[tuple[int, int]], room: int) -> None:
    lengths = [sizes[i][0] for batch in batches(sizes, room) for i in batch]
    assert lengths == sorted(lengths, reverse=True)


def test_rows_of_like_length_are_together() -> None:
    assert batches([(10, 0), (2, 0), (9, 0), (2, 0), (2, 0)], max_tokens=20) == [[0, 2], [1, 3, 4]]


def test_of_equal_length_those_with_like_many_images_are_together() -> None:
    assert batches([(5, 0), (5, 3), (5, 0), (5, 3)], max_tokens=10) == [[1, 3], [0, 2]]


def test_a_row_that_is_larger_than_a_batch_is_alone() -> None:
    assert batches([(100, 0), (1, 0)], max_tokens=10) == [[0], [1]]
