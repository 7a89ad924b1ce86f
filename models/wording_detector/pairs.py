"""Pairs of neighbours of a text that trusted texts do not have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from obelics_pipeline.models.wording_detector.habits import GRAMMAR, UNIT, Habits
from obelics_pipeline.models.wording_detector.shares import COMPILED, Numbers, Part, compiled, of_parts, sum_of
from obelics_pipeline.models.wording_detector.vocabulary import UNKNOWN, Flags, Tokens, Whole
from obelics_pipeline.models.wording_detector.wrong import Wrong

_COMMON = 500
_EXPECTED = (0, 2 * UNIT, 3 * UNIT)  # logs of how often a pair would be seen if words came at random
NAMES = (
    "missing",
    "missing_expected",
    *(f"missing_over_{over // UNIT}" for over in _EXPECTED),
    "missing_of_grammar",
    "missing_after_grammar",
    "missing_before_grammar",
    "missing_of_meaning",
    "missing_of_common",
    "turned_round",
    "missing_on_both_sides",
    "missing_around_meaning",
    "better_without",
    "missing_alone",
)


@dataclass(frozen=True, slots=True)
class Pairs:
    """The pairs of neighbours of a text: those of which both are frequent, and those that trusted texts do not have.

    `expected`: the log of how often trusted texts would have the pair if words came at random, in 1 / `UNIT`.
    """

    there: Flags
    missing: Flags
    expected: Whole


def pairs(habits: Habits, tokens: Tokens) -> Pairs:
    """Those of all neighbours, one fewer than there are tokens."""
    number = tokens.number
    left, right = number[:-1], number[1:]
    known = (number != UNKNOWN) & (number < habits.paired) & tokens.is_word
    there = known[:-1] & known[1:]
    seen = np.zeros(len(left), bool)
    seen[there] = habits.seen[left[there], right[there]] > 0
    return Pairs(there, there & ~seen, habits.often[left].astype(np.int64) + habits.often[right] - habits.total)


def of_pairs(habits: Habits, tokens: Tokens) -> Numbers:
    """Pairs of frequent words that trusted texts do not have."""
    return of_parts(NAMES, parts_compiled(habits, tokens) if COMPILED else parts_in_numpy(habits, tokens))


def parts_compiled(habits: Habits, tokens: Tokens) -> Sequence[Part]:
    """What these numbers are made of, by the compiled part, where `COMPILED`."""
    return compiled.pairs(tokens.number, tokens.is_word, habits.often, habits.total, habits.pairs, habits.paired)


def parts_in_numpy(habits: Habits, tokens: Tokens) -> Sequence[Part]:
    """The same, by NumPy: what both must return."""
    number, found = tokens.number, pairs(habits, tokens)
    left, right = number[:-1], number[1:]
    there, missing, expected = found.there, found.missing, found.expected
    parts = [sum_of(missing[there]), sum_of(np.where(missing, np.maximum(expected, 0), 0)[there])]
    parts += [sum_of(missing[there & (expected > over)]) for over in _EXPECTED]
    few_left, few_right = left < GRAMMAR, right < GRAMMAR
    of_common = (left < _COMMON) & (right < _COMMON)
    kinds = few_left & few_right, few_left & ~few_right, ~few_left & few_right, ~few_left & ~few_right, of_common
    parts += [sum_of(missing[there & kind]) for kind in kinds]
    turned = np.zeros(len(left), bool)
    turned[missing] = habits.seen[right[missing], left[missing]] > 0
    parts.append(sum_of(turned[there]))
    three = there[:-1] & there[1:]
    both = missing[:-1] & missing[1:]
    parts += [sum_of(both[three]), sum_of(both[three & (number[1:-1] >= GRAMMAR)])]
    skipped = np.zeros(len(three), bool)
    some = three & (missing[:-1] | missing[1:])
    skipped[some] = habits.seen[number[:-2][some], number[2:][some]] > 0
    parts += [sum_of(skipped[three]), sum_of((missing[1:-1] & ~missing[:-2] & ~missing[2:])[there[1:-1]])]
    return parts


def wrong_pairs(habits: Habits, tokens: Tokens) -> Iterator[Wrong]:
    """Pairs that trusted texts do not have, and would if words came at random."""
    found = pairs(habits, tokens)
    for place in np.flatnonzero(found.missing & (found.expected > 0)).tolist():
        about = "pair of words that people do not write"
        yield Wrong(about, place, place + 1, int(found.expected[place]) / UNIT)
