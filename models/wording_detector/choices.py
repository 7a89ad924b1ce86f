"""Words of grammar of a text, and whether another one would fit better where each stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from obelics_pipeline.models.wording_detector.habits import AROUND, SETS, UNIT, Habits
from obelics_pipeline.models.wording_detector.shares import COMPILED, Numbers, Part, compiled, of_parts, sum_of
from obelics_pipeline.models.wording_detector.vocabulary import Tokens, Whole
from obelics_pipeline.models.wording_detector.wrong import Wrong

_BETTER = (UNIT, 2 * UNIT, 4 * UNIT)  # log ratios by which another choice fits better
NAMES = (
    "better_choice",
    *(f"better_choice_over_{over // UNIT}" for over in _BETTER),
    *(f"better_choice_{kind}" for kind in range(SETS)),
)


@dataclass(frozen=True, slots=True)
class Choices:
    """Words of grammar of a text: where they stand, which choice each is, and which of its set fits best there.

    `better`: by how much that fits better than the one that stands there, as a log ratio in 1 / `UNIT`.
    """

    places: Whole
    own: Whole
    best: Whole
    better: Whole


def choices(habits: Habits, tokens: Tokens) -> Choices:
    """Those of the words of grammar that have all the words of `AROUND` around them."""
    number = tokens.number
    choice = habits.choice_of[number]
    reach = max(place for place, _ in AROUND)
    places = np.flatnonzero(choice >= 0)
    places = places[(places >= reach) & (places < len(number) - reach)]
    if not len(places):
        return Choices(places, places, places, places)
    own = choice[places]
    fit = np.tile(habits.prior.astype(np.int64), (len(places), 1))
    for table, (place, weight) in zip(habits.choices, AROUND, strict=True):
        fit += table[number[places + place]].astype(np.int64) * weight // 2
    rows = np.arange(len(places))
    same_set = habits.set_of[own][:, None] == habits.set_of[None, :]
    best = np.where(same_set, fit, -(1 << 40)).argmax(axis=1)
    return Choices(places, own, best, fit[rows, best] - fit[rows, own])


def of_choices(habits: Habits, tokens: Tokens) -> Numbers:
    """By how much another word of grammar would fit better between the words around it."""
    return of_parts(NAMES, parts_compiled(habits, tokens) if COMPILED else parts_in_numpy(habits, tokens))


def parts_compiled(habits: Habits, tokens: Tokens) -> Sequence[Part]:
    """What these numbers are made of, by the compiled part, where `COMPILED`."""
    return compiled.choices(tokens.number, habits.choice_of, habits.choices, habits.prior, habits.sets_of_choices)


def parts_in_numpy(habits: Habits, tokens: Tokens) -> Sequence[Part]:
    """The same, by NumPy: what both must return."""
    found = choices(habits, tokens)
    kinds, better = habits.set_of[found.own], found.better
    return [
        sum_of(better),
        *(sum_of(better > over) for over in _BETTER),
        *(sum_of(better[kinds == kind]) for kind in range(SETS)),
    ]


def wrong_choices(habits: Habits, tokens: Tokens) -> Iterator[Wrong]:
    """Words of grammar where another one fits better."""
    found = choices(habits, tokens)
    for place, best, better in zip(found.places.tolist(), found.best.tolist(), found.better.tolist(), strict=True):
        if better > 0:
            about = "word of grammar that does not fit"
            yield Wrong(about, place, place, better / UNIT, habits.choice_words[best])
