from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.models.language_model.layout import Layout, Marks, lay_out
from obelics_pipeline.models.language_model.windows import largest_image, windows

LENGTH, OVERLAP = 16, 4
SIZES = [1, 3, largest_image(LENGTH, OVERLAP)]
IMAGES = [[900 + i] * size for i, size in enumerate(SIZES)]


def layout(parts: list[str | int], begin: int | None) -> Layout:
    marks = Marks(begin, (), frozenset({900, 901, 902}))
    return lay_out(parts, lambda text: [10 + byte for byte in text.encode()], marks, IMAGES)


@given(st.lists(st.one_of(st.sampled_from([0, 1, 2]), st.text("abcdefgh", min_size=1)), max_size=12), st.booleans())
def test_each_scored_token_is_scored_once_in_order_and_no_image_is_cut(parts: list[str | int], begins: bool) -> None:
    begin = 1 if begins else None
    whole = layout(parts, begin)
    cut = windows(whole, begin, LENGTH, OVERLAP)
    scored = [one.ids[one.scored] for one in cut]
    assert list(np.concatenate([np.empty(0, np.int64), *scored])) == list(whole.ids[whole.scored])
    for one in cut:
        assert len(one.ids) <= LENGTH and one.scored.any() and not one.scored[0]
        for span in one.images:
            assert list(one.ids[span.start : span.stop]) == IMAGES[span.image]
        assert sum(span.stop - span.start for span in one.images) == (one.ids >= 900).sum()


def test_a_window_begins_with_what_the_one_before_it_scored() -> None:
    first, second = windows(layout(["a" * 20], 1), 1, LENGTH, OVERLAP)
    assert len(first.ids) == LENGTH
    assert list(second.ids) == [1, *[10 + ord("a")] * 9]
    assert list(second.scored) == [False] * 5 + [True] * 5


def test_context_that_would_cut_an_image_begins_with_all_of_it() -> None:
    _, second = windows(layout(["a" * 11, 1, "b" * 8], 1), 1, LENGTH, OVERLAP)
    assert second.images and list(second.ids[:5]) == [1, *IMAGES[1], *[10 + ord("\n")]]
