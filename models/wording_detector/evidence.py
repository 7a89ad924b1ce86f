"""What the habits of people say of the words of a text: numbers by name, for the forest that decides.

All are whole numbers or shares of them, so that every machine finds the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.models.wording_detector.habits import (
    AROUND,
    SET_OF,
    SETS,
    UNIT,
    UNKNOWN,
    Habits,
    Whole,
)

MISSING = -1.0  # where there is too little text for a number
_FEWEST = 3  # words or pairs that a number is made of
_GRAMMAR = 152  # numbers of words below carry grammar, not meaning
_COMMON = 500
_BETTER = (UNIT, 2 * UNIT, 4 * UNIT)  # log ratios by which another choice fits better
_EXPECTED = (0, 2 * UNIT, 3 * UNIT)  # logs of how often a pair would be seen if words came at random
_ENDS = (".", "!", "?")

Numbers = Iterator[tuple[str, float]]
Flags = NDArray[np.bool_]


def evidence(habits: Habits, tokens: Sequence[str]) -> dict[str, float]:
    """All numbers of a text: words and marks in the form that is judged, as they are written."""
    lower = [token.lower() for token in tokens]
    number = habits.read(lower)
    is_word = np.array([token[0].isalpha() for token in lower], bool)
    return dict(
        [
            *_of_words(habits, tokens, lower, number, is_word),
            *_of_choices(habits, number),
            *_of_pairs(habits, number, is_word),
        ]
    )


def names(habits: Habits) -> set[str]:
    """Those of all numbers."""
    return set(evidence(habits, ["a"]))


def _of_words(habits: Habits, tokens: Sequence[str], lower: Sequence[str], number: Whole, is_word: Flags) -> Numbers:
    """What kind of words a text has: what is usual of pairs depends on it."""
    as_written = np.array([token == small for token, small in zip(tokens, lower, strict=True)], bool)
    unknown = number == UNKNOWN
    words = number[is_word]
    yield "unknown", _share(unknown[is_word])
    yield "unknown_lower", _share((unknown & as_written)[is_word])
    yield "grammar", _share((words < _GRAMMAR) & (words != UNKNOWN))
    yield "often", _mean(habits.often[words])
    yield "words", float(len(words))
    yield "words_of_a_sentence", len(words) / max(1, sum(token in _ENDS for token in tokens))


def _of_choices(habits: Habits, number: Whole) -> Numbers:
    """By how much another word of grammar would fit better between the words around it."""
    choice = habits.choice_of[number]
    reach = max(place for place, _ in AROUND)
    places = np.flatnonzero(choice >= 0)
    places = places[(places >= reach) & (places < len(number) - reach)]
    own = choice[places]
    fit = np.tile(habits.prior.astype(np.int64), (len(places), 1))
    for table, (place, weight) in zip(habits.choices, AROUND, strict=True):
        fit += table[number[places + place]].astype(np.int64) * weight // 2
    rows = np.arange(len(places))
    same_set = SET_OF[own][:, None] == SET_OF[None, :]
    better = np.where(same_set, fit, -(1 << 40)).max(axis=1, initial=-(1 << 40)) - fit[rows, own]
    yield "better_choice", _mean(better)
    for over in _BETTER:
        yield f"better_choice_over_{over // UNIT}", _share(better > over)
    for kind in range(len(SETS)):
        yield f"better_choice_{kind}", _mean(better[SET_OF[own] == kind])


def _of_pairs(habits: Habits, number: Whole, is_word: Flags) -> Numbers:
    """Pairs of frequent words that trusted texts do not have."""
    left, right = number[:-1], number[1:]
    known = (number != UNKNOWN) & (number < habits.paired) & is_word
    there = known[:-1] & known[1:]
    seen = np.zeros(len(left), bool)
    seen[there] = habits.seen[left[there], right[there]] > 0
    missing = there & ~seen
    expected = habits.often[left].astype(np.int64) + habits.often[right] - habits.total
    yield "missing", _share(missing[there])
    yield "missing_expected", _mean(np.where(missing, np.maximum(expected, 0), 0)[there])
    for over in _EXPECTED:
        yield f"missing_over_{over // UNIT}", _share(missing[there & (expected > over)])
    few_left, few_right = left < _GRAMMAR, right < _GRAMMAR
    kinds = {
        "of_grammar": few_left & few_right,
        "after_grammar": few_left & ~few_right,
        "before_grammar": ~few_left & few_right,
        "of_meaning": ~few_left & ~few_right,
        "of_common": (left < _COMMON) & (right < _COMMON),
    }
    for name, kind in kinds.items():
        yield f"missing_{name}", _share(missing[there & kind])
    turned = np.zeros(len(left), bool)
    turned[missing] = habits.seen[right[missing], left[missing]] > 0
    yield "turned_round", _share(turned[there])
    three = there[:-1] & there[1:]
    both = missing[:-1] & missing[1:]
    yield "missing_on_both_sides", _share(both[three])
    middle = number[1:-1]
    yield "missing_around_meaning", _share(both[three & (middle >= _GRAMMAR)])
    skipped = np.zeros(len(three), bool)
    some = three & (missing[:-1] | missing[1:])
    skipped[some] = habits.seen[number[:-2][some], number[2:][some]] > 0
    yield "better_without", _share(skipped[three])
    yield "missing_alone", _share((missing[1:-1] & ~missing[:-2] & ~missing[2:])[there[1:-1]])


def _share(flags: Flags) -> float:
    return int(flags.sum()) / len(flags) if len(flags) >= _FEWEST else MISSING


def _mean(values: NDArray[np.integer]) -> float:
    return int(values.sum()) / len(values) if len(values) >= _FEWEST else MISSING
