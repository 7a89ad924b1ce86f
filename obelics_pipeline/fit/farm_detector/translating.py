"""Word-by-word translation: each word through another language and back, in that language's order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from obelics_pipeline.fit.farm_detector.dictionary import Dictionary
from obelics_pipeline.fit.farm_detector.inflection import inflected, readings
from obelics_pipeline.fit.farm_detector.marked_text import (
    MarkedText,
    Piece,
    cased_like,
    in_paragraphs,
    marked,
    sentences,
)
from obelics_pipeline.fit.farm_detector.shuffling import reordered
from obelics_pipeline.fit.farm_detector.trusted import TrustedTexts

RATES = (0.3, 0.5, 0.7, 0.9)  # of the words that the dictionaries know
ARTICLES_DROPPED = (0.0, 0.0, 0.3, 0.6)  # share: many languages have none
_ARTICLES = ("a", "an", "the")
_SENSES = 4  # translations of a word that are gone through, on each way
_SHORT = 3  # letters; such words are translated less often, for they are rarely in a dictionary

Order = Callable[[list[int], Random], list[int]]


@dataclass(slots=True)
class Translator:
    """Goes through a language and back by two dictionaries."""

    there: Dictionary
    back: Dictionary
    _known: dict[str, list[tuple[str, str]]] = field(default_factory=dict)

    def make(self, trusted: TrustedTexts, random: Random) -> MarkedText:
        """A passage, translated there and back."""
        habits = _Habits(
            rate=random.choice(RATES),
            inflects=random.random() < 0.5,
            drops=random.choice(ARTICLES_DROPPED),
            orders=random.choice(ORDERS),
        )
        parts = [self._translated(marked(s), habits, random) for s in sentences(trusted.passage(random))]
        return in_paragraphs(parts, random)

    def _translated(self, pieces: MarkedText, habits: _Habits, random: Random) -> MarkedText:
        made: MarkedText = []
        for piece in pieces:
            word = piece.text.lower()
            if word in _ARTICLES and random.random() < habits.drops:
                if made and made[-1].text == " ":
                    made.pop()
                continue
            wanted = piece.is_word and (len(word) > _SHORT or random.random() < habits.rate)
            choices = self._through(word) if wanted and random.random() < habits.rate else []
            made.append(_exchanged(piece, choices, habits.inflects, random))
        places = order = [number for number, piece in enumerate(made) if piece.is_word]
        for reorder in habits.orders:
            order = reorder(order, random)
        return reordered(made, places, order)

    def _through(self, word: str) -> list[tuple[str, str]]:
        """What comes back of the first reading of a word that both dictionaries know, and the ending it had."""
        if word not in self._known:
            found = ([(text, ending) for text in self._of(lemma)] for lemma, ending in readings(word))
            self._known[word] = next(filter(None, found), [])
        return self._known[word]

    def _of(self, lemma: str) -> list[str]:
        foreign = self.there.of(lemma)[:_SENSES]
        found = [text.removeprefix("to ") for word in foreign for text in self.back.of(word.lower())[:_SENSES]]
        return [text for text in found if text.lower() != lemma]


def _exchanged(piece: Piece, choices: list[tuple[str, str]], inflects: bool, random: Random) -> Piece:
    if not choices:
        return piece
    text, ending = random.choice(choices)
    return Piece(cased_like(inflected(text, ending) if inflects else text, piece.text), replaced=True)


def _neighbours_swapped(order: list[int], random: Random) -> list[int]:
    made, share, place = list(order), random.choice((0.1, 0.2, 0.4)), 0
    while place + 1 < len(made):
        if random.random() < share:
            made[place], made[place + 1] = made[place + 1], made[place]
            place += 1
        place += 1
    return made


def _some_moved_back(order: list[int], random: Random) -> list[int]:
    """As verbs go to the end of a clause."""
    made = list(order)
    for _ in range(len(made) // 10 + 1 if len(made) > 5 else 0):
        place = random.randrange(1, len(made) - 2)
        made.insert(min(len(made) - 1, place + random.randint(2, 7)), made.pop(place))
    return made


def _threes_reversed(order: list[int], random: Random) -> list[int]:
    """As nouns come before what describes them."""
    made = list(order)
    for _ in range(len(made) // 8 + 1 if len(made) > 5 else 0):
        place = random.randrange(len(made) - 3)
        made[place : place + 3] = made[place : place + 3][::-1]
    return made


ORDERS: tuple[tuple[Order, ...], ...] = (
    (),
    (_neighbours_swapped,),
    (_some_moved_back,),
    (_neighbours_swapped, _some_moved_back),
    (_threes_reversed,),
)


@dataclass(frozen=True, slots=True)
class _Habits:
    """Of one document."""

    rate: float
    inflects: bool
    drops: float
    orders: tuple[Order, ...]
