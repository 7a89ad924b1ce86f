"""A point is inside of what goes round it an odd number of times."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.inspect.map.polygon import inside

SQUARE = [(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0)]
corner = st.tuples(st.integers(-9, 9).map(float), st.integers(-9, 9).map(float))


def points(*found: tuple[float, float]) -> np.ndarray:
    return np.array(found, np.float32).reshape(-1, 2)


def test_inside_and_outside_of_a_square() -> None:
    assert inside(points((1, 1), (3, 1), (1, -1), (-1, 1)), SQUARE).tolist() == [True, False, False, False]


def test_a_notch_is_outside() -> None:
    notched = [(0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (2.0, 1.0), (0.0, 4.0)]
    assert inside(points((2, 2), (0.5, 2), (3.5, 2)), notched).tolist() == [False, True, True]


def test_what_is_gone_round_twice_is_outside() -> None:
    star = [(np.cos(0.8 * np.pi * i), np.sin(0.8 * np.pi * i)) for i in range(5)]
    assert inside(points((0, 0), (0.8, 0)), star).tolist() == [False, True]


def test_a_document_without_a_place_is_outside() -> None:
    assert not inside(points((np.nan, np.nan)), SQUARE).any()


def test_fewer_than_three_corners_are_refused() -> None:
    with pytest.raises(ValueError, match="3 corners or more, got 2"):
        inside(points((0, 0)), SQUARE[:2])


@given(st.lists(corner, min_size=3, max_size=3, unique=True), corner)
def test_where_it_begins_and_which_way_it_goes_change_nothing(
    corners: list[tuple[float, float]], at: tuple[float, float]
) -> None:
    found = inside(points(at), corners)
    assert found == inside(points(at), corners[1:] + corners[:1])
    assert found == inside(points(at), corners[::-1])


@given(corner, corner)
def test_a_point_on_a_shared_edge_is_in_one_half_alone(one: tuple[float, float], other: tuple[float, float]) -> None:
    frame = (-20.0, -20.0), (20.0, -20.0), (20.0, 20.0), (-20.0, 20.0)
    grid = points(*((x, y) for x in range(-10, 11) for y in range(-10, 11)))
    halves = [(frame[0], frame[1], one, other, frame[3]), (frame[1], frame[2], frame[3], other, one)]
    first, second = (inside(grid, half) for half in halves)
    # Where the path between the halves crosses itself, both halves have that place, or neither: by the even-odd rule
    # the sum of both is the frame.
    assert (first ^ second).all()
