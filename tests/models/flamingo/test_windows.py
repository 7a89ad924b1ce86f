from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.models.flamingo.layout import Layout, Marks, Piece, lay_out
from obelics_pipeline.models.flamingo.windows import windows

MARKS = Marks(begin=1, image=2, end_of_chunk=3)


def laid_out(parts: list[Piece], marks: Marks = MARKS) -> Layout:
    """A token for each word, which is a number of its own."""
    return lay_out(parts, lambda text: [int(word) + 10 for word in text.split()], marks, ())


def words(first: int, count: int) -> str:
    return " ".join(str(i) for i in range(first, first + count))


TEXTS = st.integers(1, 40).map(lambda n: words(100, n))
DOCUMENTS = st.lists(st.one_of(st.integers(0, 30), TEXTS), max_size=12)


@given(parts=DOCUMENTS, length=st.integers(6, 40), begin=st.sampled_from([1, None]), data=st.data())
def test_each_token_is_scored_once_and_in_order(
    parts: list[Piece], length: int, begin: int | None, data: st.DataObject
) -> None:
    overlap = data.draw(st.integers(1, length - 3))
    layout = laid_out(parts, Marks(begin, 2, 3))
    cut = windows(layout, Marks(begin, 2, 3), length, overlap)
    scored = [i for window in cut for i in window.ids[window.scored].tolist()]
    assert scored == layout.targets().tolist()
    assert all(len(window.ids) <= length and not window.scored[0] for window in cut)


@given(parts=DOCUMENTS, length=st.integers(6, 40))
def test_each_token_stands_under_the_image_it_stands_under_in_the_document(parts: list[Piece], length: int) -> None:
    def seen(ids: np.ndarray, scored: np.ndarray, images: tuple[int, ...]) -> list[int | None]:
        under = np.cumsum(ids == MARKS.image)
        return [images[n - 1] if n else None for n in under[scored].tolist()]

    layout = laid_out(parts)
    cut = windows(layout, MARKS, length, 2)
    assert all(int((window.ids == MARKS.image).sum()) == len(window.images) for window in cut)
    whole = seen(layout.ids, layout.scored, layout.images)
    assert [image for window in cut for image in seen(window.ids, window.scored, window.images)] == whole


def test_a_document_that_fits_is_one_window() -> None:
    layout = laid_out([words(0, 5), 7, words(5, 2)])
    (only,) = windows(layout, MARKS, len(layout.ids), 2)
    np.testing.assert_array_equal(only.ids, layout.ids)
    np.testing.assert_array_equal(only.scored, layout.scored)
    assert only.images == (7,)


def test_a_later_window_has_the_beginning_its_image_and_what_comes_before_it_in_front() -> None:
    layout = laid_out([9, words(0, 12)])
    first, second, third = windows(layout, MARKS, 8, 2)
    assert first.ids.tolist() == [1, 2, 10, 11, 12, 13, 14, 15]
    assert second.ids.tolist() == [1, 2, 14, 15, 16, 17, 18, 19]
    assert second.scored.tolist() == [False] * 4 + [True] * 4
    assert third.ids.tolist() == [1, 2, 18, 19, 20, 21, 3]
    assert [w.images for w in (first, second, third)] == [(9,)] * 3


def test_an_image_that_a_window_begins_with_is_not_there_twice() -> None:
    layout = laid_out([9, words(0, 4), 8, words(4, 6)])  # 1 2 . . . . 3 2 . . . . . . 3
    windows_of_ten = windows(layout, MARKS, 9, 2)
    assert windows_of_ten[1].ids.tolist()[:3] == [1, 2, 14]
    assert windows_of_ten[1].images == (8,)


def test_nothing_to_score_is_no_window() -> None:
    assert windows(laid_out([0, 1, 2]), MARKS, 8, 2) == []
    assert windows(laid_out([]), MARKS, 8, 2) == []


@pytest.mark.parametrize("overlap", [0, 6])
def test_an_overlap_that_leaves_no_room_is_refused(overlap: int) -> None:
    with pytest.raises(ValueError, match="1 to 5 tokens"):
        windows(laid_out([words(0, 9)]), MARKS, 8, overlap)
