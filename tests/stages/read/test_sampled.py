"""A sample is the same share of the units in every run, and whole units."""

from math import ceil

from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.stages.read.ranges import ReadTask, sampled


def tasks(n: int) -> list[ReadTask]:
    return [ReadTask("warc", f"{i}.warc.gz", f"{i}.warc.gz", 0, 9, 9, "v", f"{i}-000000000000") for i in range(n)]


@given(st.integers(0, 60), st.floats(0.001, 1), st.floats(0.001, 1))
def test_a_share_of_the_units_in_their_order_and_a_larger_one_holds_a_smaller_one(
    n: int, one: float, two: float
) -> None:
    everything = tasks(n)
    small, large = sampled(everything, min(one, two)), sampled(everything, max(one, two))
    assert len(small) == ceil(min(one, two) * n)
    assert small == [task for task in everything if task in small]
    assert set(small) <= set(large)
    assert sampled(everything, 1) == everything


def test_which_units_does_not_depend_on_their_order() -> None:
    everything = tasks(50)
    assert set(sampled(everything[::-1], 0.2)) == set(sampled(everything, 0.2))


def test_it_is_no_row_of_neighbours() -> None:
    places = [tasks(100).index(task) for task in sampled(tasks(100), 0.1)]
    assert max(places) - min(places) > 20
