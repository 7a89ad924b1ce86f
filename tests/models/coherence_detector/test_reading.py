"""A text is read the same, to the last number, compiled and in Python."""

import pytest

from obelics_pipeline.models.coherence_detector import reading as module
from obelics_pipeline.models.coherence_detector.detector import all_bundled, load
from obelics_pipeline.models.coherence_detector.reading import FEWEST, Reading, read, read_compiled, read_in_python
from obelics_pipeline.models.coherence_detector.vectors import Vectors
from tests.models.coherence_detector.small import IN_ORDER, vectors
from tests.models.coherence_detector.texts import hard_texts

compiled = pytest.mark.skipif(not module.COMPILED, reason="the compiled reading was not built")


def as_lists(found: Reading | None) -> object:
    return found and (found.counts, [numbers.tolist() for numbers in found.traits])


def shipped() -> Vectors:
    return load(all_bundled()["en"]).vectors


@compiled
def test_compiled_it_reads_every_text_as_python_does() -> None:
    texts = hard_texts()
    found = [as_lists(read_compiled(text, shipped())) for text in texts]
    assert found == [as_lists(read_in_python(text, shipped())) for text in texts]
    assert 0.2 < sum(one is not None for one in found) / len(texts) < 0.9


@compiled
def test_compiled_it_finds_traits_with_any_characters() -> None:
    made = vectors()
    odd = Vectors(("#", "$Ⓐ", "<ⓐ", "^the #", "\ud800", "", "#", 'L1"', '"01'), *(made.before[:10],) * 3)
    for text in hard_texts():
        assert as_lists(read_compiled(text, odd)) == as_lists(read_in_python(text, odd)), text[:80]


@compiled
def test_compiled_it_tells_thousands_of_words_apart() -> None:
    text = "One two.\n" * FEWEST + " ".join(f"Word{n} word{n}" for n in range(5000))
    found = read_compiled(text.replace("0", "x"), vectors())
    assert found is not None and found.counts.words > 10_000
    assert as_lists(found) == as_lists(read_in_python(text.replace("0", "x"), vectors()))


def test_of_fewer_sentences_there_is_nothing() -> None:
    assert read("One more. " * (FEWEST - 1), vectors()) is None
    assert read("One more. " * FEWEST, vectors()) is not None


def test_what_is_counted_is_what_the_text_has() -> None:
    found = read(IN_ORDER + '\nHe said "yes (1,000).', vectors())
    assert found is not None
    counts = found.counts
    assert (counts.sentences, counts.lines, counts.lines_open, counts.with_numbers) == (9, 2, 1, 1)
    assert counts.quotes_half == counts.with_quotes == counts.quotes_change == 1 and counts.brackets_open == 0
    assert (counts.first, counts.words) == (8, 8 * 8 + 4)  # only `walked` is in all
    assert counts.pairs == counts.within_1 == 7  # each station ends one sentence and begins the next
