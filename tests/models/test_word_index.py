"""An index of words has a place for each, and refuses arrays that are none."""

import numpy as np
import pytest

from obelics_pipeline.models.word_index import Index

compiled = pytest.importorskip("obelics_pipeline.models._word_index", reason="the compiled index was not built")


def test_each_word_has_its_number_and_of_two_that_are_the_same_the_later() -> None:
    words = [f"word {n}" for n in range(1000)]
    index = Index.of([*words, "word 7"])
    assert sorted(index.slots[index.slots > 0].tolist()) == sorted({*range(1, 1001), 1001} - {8})
    assert len(index.slots) >= 2 * len(words) and len(index.slots).bit_count() == 1


def test_no_words_make_an_index_too() -> None:
    assert not Index.of([]).slots.any()


@pytest.mark.parametrize(
    ("begins", "places"), [([0, 3, 2], 8), ([0, 4], 8), ([1, 2], 8), ([0, 1, 2], 7), ([0, 1, 2], 2), ([], 8)]
)
def test_arrays_that_are_no_index_are_refused(begins: list[int], places: int) -> None:
    with pytest.raises(ValueError, match="not an index"):
        compiled.fill(np.zeros(2, np.uint32), np.array(begins, np.int64), np.zeros(places, np.int32))
