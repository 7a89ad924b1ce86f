"""Sentences are compared the same, to the last number, compiled and in NumPy."""

import numpy as np
import pytest
from numpy.typing import NDArray

from obelics_pipeline.models.coherence_detector import comparison as module
from obelics_pipeline.models.coherence_detector.comparison import compare_compiled, compare_in_numpy
from obelics_pipeline.models.coherence_detector.vectors import Vectors

compiled = pytest.mark.skipif(not module.COMPILED, reason="the compiled comparison was not built")

TRAITS = 40


def vectors(width: int, seed: int = 1) -> Vectors:
    random = np.random.default_rng(seed)
    tables = (random.integers(-127, 128, (TRAITS + 1, width)).astype(np.int8) for _ in range(3))
    return Vectors(tuple(f"t{n}" for n in range(TRAITS)), *tables)


def traits(sentences: int, seed: int = 2) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    random = np.random.default_rng(seed)
    lengths = random.integers(1, 30, sentences)
    return random.integers(0, TRAITS + 1, lengths.sum()), np.cumsum([0, *lengths], dtype=np.int64)[:-1]


@compiled
@pytest.mark.parametrize("width", [1, 7, 32, 33])
@pytest.mark.parametrize("sentences", [2, 3, 8, 25, 200])
def test_compiled_it_says_the_same(width: int, sentences: int) -> None:
    made, read = vectors(width, sentences), traits(sentences, width)
    for one, other in zip(compare_compiled(made, read), compare_in_numpy(made, read), strict=True):
        assert one.tolist() == other.tolist()


@compiled
def test_compiled_it_says_the_same_of_tables_at_their_limits() -> None:
    for values in ((-128, -128, 127), (0, 0, 0), (1, -1, 0)):
        made = Vectors(("t",) * TRAITS, *(np.full((TRAITS + 1, 32), value, np.int8) for value in values))
        for one, other in zip(compare_compiled(made, traits(9)), compare_in_numpy(made, traits(9)), strict=True):
            assert one.tolist() == other.tolist()


@compiled
@pytest.mark.parametrize(
    ("numbers", "begins"),
    [([TRAITS + 1, 0], [0, 1]), ([-1, 0], [0, 1]), ([0, 0], [0, 3]), ([0, 0], [-1, 1]), ([0, 0], [1, 0]), ([0], [0])],
)
def test_compiled_it_reads_nothing_outside_of_its_tables(numbers: list[int], begins: list[int]) -> None:
    with pytest.raises(ValueError, match="do not fit together"):
        compare_compiled(vectors(4), (np.array(numbers), np.array(begins)))
