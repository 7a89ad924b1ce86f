"""Text of an n-gram model: every few words are somebody's, and nobody wrote the whole."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from random import Random

from obelics_pipeline.fit.farm_detector.marked_text import MarkedText, Piece, after_a_junction, in_paragraphs, marked
from obelics_pipeline.fit.farm_detector.trusted import LENGTHS, TrustedTexts

ORDERS = (1, 2, 2, 3, 3)  # words that the next one depends on
SOURCES = (150, 400, 900)  # texts of a model
_SHORTEST, _LONGEST = 4, 60  # words of a sentence
_KEPT = 6  # models at a time
_RENEWED = 0.01  # share of documents before which a new model is made


class Chains:
    """Makes documents with a few n-gram models. It replaces a model from time to time: making one takes a second."""

    def __init__(self, trusted: TrustedTexts, orders: Sequence[int] = ORDERS) -> None:
        self._trusted = trusted
        self._orders = orders
        self._models: list[_Model] = []

    def make(self, random: Random) -> MarkedText:
        """A document of one of the models."""
        if len(self._models) < _KEPT or random.random() < _RENEWED:
            self._models = [*self._models, _Model(self._trusted, self._orders, random)][-_KEPT:]
        return random.choice(self._models).make(random)


class _Model:
    """Words by what stands before them, as places in the texts, so that a junction is known."""

    def __init__(self, trusted: TrustedTexts, orders: Sequence[int], random: Random) -> None:
        self._order = random.choice(orders)
        self._words: list[str | None] = []  # None ends a sentence
        self._begins: list[int] = []
        self._next: dict[tuple[str | None, ...], list[int]] = defaultdict(list)
        for _ in range(min(random.choice(SOURCES), len(trusted.texts))):
            for sentence in trusted.some(random):
                self._add(sentence.split())

    def _add(self, words: list[str]) -> None:
        if len(words) < max(_SHORTEST, self._order + 1):
            return
        begin = len(self._words)
        self._begins.append(begin)
        self._words += [*words, None]
        for place in range(begin, begin + len(words) - self._order + 1):
            self._next[tuple(self._words[place : place + self._order])].append(place + self._order)

    def make(self, random: Random) -> MarkedText:
        words = random.choice(LENGTHS)
        parts = []
        while words > 0:
            sentence = self._sentence(random)
            words -= len(sentence)
            parts.append(_joined(sentence, random))
        return in_paragraphs(parts, random)

    def _sentence(self, random: Random) -> list[tuple[str, bool]]:
        """Words, each with whether it is taken from another place than the word before."""
        place = random.choice(self._begins) + self._order - 1
        made = [(str(word), False) for word in self._words[place - self._order + 1 : place + 1]]
        while len(made) < _LONGEST:
            following = random.choice(self._next[tuple(word for word, _ in made[-self._order :])])
            word = self._words[following]
            if word is None:
                break
            made.append((word, following != place + 1))
            place = following
        return made


def _joined(sentence: list[tuple[str, bool]], random: Random) -> MarkedText:
    made: MarkedText = []
    for word, elsewhere in sentence:
        pieces = marked(word)
        made += [Piece(" ")] if made else []
        made += after_a_junction(pieces) if elsewhere else pieces
    if made[-1].is_word and random.random() < 0.8:
        made.append(Piece("."))
    return made
