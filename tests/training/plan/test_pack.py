from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obelics_pipeline.training.plan.pack import pack
from obelics_pipeline.training.plan.spans import cut

from .made import drawn, lengths_of


@given(st.lists(st.tuples(st.integers(1, 20), st.integers(0, 4)), max_size=60), st.integers(0, 60))
@settings(max_examples=200, deadline=None)
def test_every_span_is_in_one_row_that_holds_it(spans: list[tuple[int, int]], middle: int) -> None:
    sizes, images = (np.array([s[i] for s in spans], np.int64) for i in (0, 1))
    middle = min(middle, len(spans))
    rows = pack(sizes, images, np.array([middle, len(spans)]), (20, 4))
    assert sorted(int(i) for row in rows for i in row) == list(range(len(spans)))
    for row in rows:
        assert sizes[row].sum() <= 20
        assert images[row].sum() <= 4
        assert (row < middle).all() or (row >= middle).all()
    assert [row[0] >= middle for row in rows] == sorted(row[0] >= middle for row in rows)


@pytest.mark.parametrize(("tokens", "images"), [(1024, 8), (2048, 24)])
def test_rows_are_nearly_full_on_lengths_like_those_of_web_pages(tokens: int, images: int) -> None:
    found = drawn(20_000, mean=6.2)
    spans = cut(lengths_of(found), np.arange(len(found)), tokens, images)
    rows = pack(spans.sizes, spans.images, np.array([len(spans)]), (tokens, images))
    fill = spans.sizes.sum() / (len(rows) * tokens)
    assert fill >= 0.985  # the goal is 0.96


def test_documents_without_images_fill_the_rows_that_have_room_for_none() -> None:
    sizes, images = np.array([4] * 10 + [6] * 10), np.array([2] * 10 + [0] * 10)
    assert len(pack(sizes, images, np.array([20]), (10, 2))) == 10


def test_a_span_that_no_row_holds_is_refused() -> None:
    with pytest.raises(ValueError, match="larger than a row"):
        pack(np.array([11]), np.array([0]), np.array([1]), (10, 2))
