"""Which words and phrases come again, how far apart, and marks and forms of sentences: numbers of one text.

All are whole numbers or shares of them, so that every machine finds the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isqrt, sqrt

from obelics_pipeline.models.coherence_detector.counts import NEAR, Counts

MISSING = -9.0  # where there is too little text for a number
_FEWEST_PAIRS = 5

Numbers = Iterator[tuple[str, float]]


def of_repetition(c: Counts) -> Numbers:
    """Words that return in most sentences, and how near each other words that return stand."""
    words = max(1, c.meant)
    yield "sentences_with_word_1", c.first / c.sentences
    yield "sentences_with_word_2", c.second / c.sentences
    yield "sentences_with_word_3", c.third / c.sentences
    yield "sentences_with_name_1", c.first_name / c.sentences
    yield "sentences_with_name_2", c.second_name / c.sentences
    yield "sentences_with_names", c.with_names / c.sentences
    yield "different_words", c.different / words
    yield "words_once", c.once / words
    yield "words_again", c.pairs / words
    yield from _of_distances(c)


def _of_distances(c: Counts) -> Numbers:
    """Where a word of several sentences stands again, beside where it would at random."""
    enough = c.pairs >= _FEWEST_PAIRS
    for near, found in zip(NEAR, (c.within_1, c.within_2, c.within_4, c.within_8), strict=True):
        apart = min(near, c.sentences - 1)
        expected = (apart * c.sentences - apart * (apart + 1) // 2) / (c.sentences * (c.sentences - 1) // 2)
        spread = sqrt(c.pairs * expected * (1 - expected) + 0.5)
        yield f"again_within_{near}", found / c.pairs / expected if enough else MISSING
        yield f"again_within_{near}_significance", (found - c.pairs * expected) / spread if enough else MISSING


def of_phrases(c: Counts) -> Numbers:
    """Runs of words, and beginnings of sentences, that were there before."""
    yield "runs_of_2_again", c.pairs_again / max(1, c.words - 2)
    yield "runs_of_4_again", c.fours_again / max(1, c.words - 4)
    yield "beginnings_again", c.beginnings_again / c.sentences


def of_form(c: Counts) -> Numbers:
    """Lengths, marks, quotes and brackets that do not close, and lines that are no sentences."""
    count = c.sentences
    spread = isqrt(count * c.squares - c.tokens * c.tokens)  # the deviation times count
    yield "sentences", float(count)
    yield "tokens_of_a_sentence", c.tokens / count
    yield "lengths_deviation", spread / c.tokens
    yield "lengths_step", c.steps / (count - 1) / (spread / count + 1)
    yield "short", c.short / count
    yield "titles", c.titles / count
    yield "with_numbers", c.with_numbers / count
    yield "frame_marks", c.frame_marks / c.tokens
    yield "with_quotes", c.with_quotes / count
    yield "quotes_half", c.quotes_half / count
    yield "quotes_change", c.quotes_change / count
    yield "quotes_open", c.lines_open / c.lines
    yield "brackets_open", c.brackets_open / count
