"""Words are counted the same compiled and in NumPy."""

import pytest

from obelics_pipeline.models.wording_detector import words
from obelics_pipeline.models.wording_detector.habits import Habits
from tests.models.coherence_detector.texts import hard_texts
from tests.models.wording_detector.small import PLAIN, WRONG, english, phrasing, read


@pytest.mark.skipif(not words.COMPILED, reason="the compiled counts were not built")
@pytest.mark.parametrize("habits", [english(), phrasing()])
def test_compiled_they_are_counted_as_by_numpy(habits: Habits) -> None:
    for text in (*hard_texts(), PLAIN, WRONG, "", "a"):
        tokens = read(habits, text)
        assert list(words.parts_compiled(habits, tokens)) == words.parts_in_numpy(habits, tokens), text[:80]


@pytest.mark.skipif(not words.COMPILED, reason="the compiled counts were not built")
def test_numbers_beyond_the_vocabulary_are_refused() -> None:
    tokens = read(english(), PLAIN)
    with pytest.raises(ValueError, match="do not fit together"):
        words.compiled.words(tokens.number, tokens.is_word, tokens.as_written, english().often[:5])
