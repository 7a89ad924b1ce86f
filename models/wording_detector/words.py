"""Words of a text: how usual they are."""

from __future__ import annotations

from collections.abc import Sequence

from obelics_pipeline.models.wording_detector.habits import GRAMMAR, Habits
from obelics_pipeline.models.wording_detector.shares import COMPILED, Numbers, Part, compiled, of_parts, sum_of
from obelics_pipeline.models.wording_detector.vocabulary import UNKNOWN, Tokens

NAMES = ("unknown", "unknown_lower", "grammar", "often")


def of_words(habits: Habits, tokens: Tokens) -> Numbers:
    """What kind of words a text has: what is usual of pairs depends on it."""
    return of_parts(NAMES, parts_compiled(habits, tokens) if COMPILED else parts_in_numpy(habits, tokens))


def parts_compiled(habits: Habits, tokens: Tokens) -> Sequence[Part]:
    """What these numbers are made of, by the compiled part, where `COMPILED`."""
    return compiled.words(tokens.number, tokens.is_word, tokens.as_written, habits.often)


def parts_in_numpy(habits: Habits, tokens: Tokens) -> Sequence[Part]:
    """The same, by NumPy: what both must return."""
    unknown = tokens.number == UNKNOWN
    words = tokens.number[tokens.is_word]
    return [
        sum_of(unknown[tokens.is_word]),
        sum_of((unknown & tokens.as_written)[tokens.is_word]),
        sum_of((words < GRAMMAR) & (words != UNKNOWN)),
        sum_of(habits.often[words]),
    ]
