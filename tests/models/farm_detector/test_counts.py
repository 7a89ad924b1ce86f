"""Tokens are counted the same, to the last number, compiled and in NumPy."""

import numpy as np
import pytest

from obelics_pipeline.models.farm_detector import counts as module
from obelics_pipeline.models.farm_detector.counts import count, count_compiled, count_in_numpy
from obelics_pipeline.models.farm_detector.tokens import ENDINGS, LOOKS, Read, Vocabulary, find_tokens
from tests.models.farm_detector.small import WORDS

compiled = pytest.mark.skipif(not module.COMPILED, reason="the compiled counts were not built")


def made_up(tokens: int, forms: int) -> Read:
    random = np.random.default_rng(tokens * 100 + forms)
    rows = random.integers(0, [len(WORDS), ENDINGS, LOOKS], (tokens, 3)).astype(np.int32)
    others = (random.integers(0, most, tokens).astype(np.int32) for most in (forms, 20, 2))
    return Read(rows, *others)


@compiled
@pytest.mark.parametrize("forms", [1, 2, 5, 100, 1 << 31])
@pytest.mark.parametrize("tokens", [1, 2, 3, 4, 5, 60, 70, 200, 220, 1000])
def test_compiled_they_are_the_same(tokens: int, forms: int) -> None:
    assert count_compiled(made_up(tokens, forms)) == count_in_numpy(made_up(tokens, forms))


@compiled
def test_compiled_arrays_of_different_lengths_are_refused() -> None:
    read = made_up(5, 3)
    for wrong in (read._replace(rows=read.rows[:4]), read._replace(letters=read.letters[:4])):
        with pytest.raises(ValueError, match="different lengths"):
            count_compiled(wrong)


def test_what_is_counted_is_what_the_text_has() -> None:
    found = count(
        Vocabulary(WORDS).read(find_tokens("The boat, the old boat sended 12 Zebras.\n\nThe boat, the old boat!"))
    )
    assert (found.tokens, found.words, found.marks, found.breaks, found.numbers) == (18, 12, 4, 1, 1)
    assert (found.unknown_words, found.unknown_lower, found.unknown_endings, found.capitals) == (1, 0, 1, 3)
    assert found.letters == len("TheboattheoldboatsendedZebrasTheboattheoldboat")
    assert (found.different_2, found.most_2) == (7, 2)
    assert (found.different_4, found.most_4) == (7, 2)
    assert (found.windows_50, found.distinct_50) == (0, 0)


def test_windows_of_words_overlap_by_half() -> None:
    found = count(Vocabulary(WORDS).read(["boat"] * 50 + [f"w{chr(97 + n)}" for n in range(26)]))
    assert (found.windows_50, found.lowest_50) == (2, 1)
    assert found.distinct_50 == 1 + 26
