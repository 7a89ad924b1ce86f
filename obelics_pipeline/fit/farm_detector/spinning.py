"""Synonym spinning: an article is copied, and some of its words are exchanged by a program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from obelics_pipeline.fit.farm_detector import analogy
from obelics_pipeline.fit.farm_detector.inflection import GERUND, PAST, PLURAL, inflected, readings
from obelics_pipeline.fit.farm_detector.marked_text import MarkedText, Piece, cased_like, marked
from obelics_pipeline.fit.farm_detector.thesaurus import Substitute, Thesaurus
from obelics_pipeline.fit.farm_detector.wording import Wording

RATES = (0.08, 0.12, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6)  # of the words that have a substitute
_SPEECH_OF_ENDING = {PLURAL: ("noun", "verb", ""), PAST: ("verb", ""), GERUND: ("verb", "")}
_SPARES_NAMES = 0.7  # share of spinners that leave words with a capital inside a sentence alone
_FIRST_SENSES = 3


@dataclass(slots=True)
class Spinner:
    """Exchanges words for those of a thesaurus, each with the ending of the word it replaces."""

    thesaurus: Thesaurus
    language: str = "en"
    _known: dict[str, list[Substitute]] = field(default_factory=dict)

    def spin(self, text: str, random: Random, rates: Sequence[float] = RATES) -> MarkedText:
        """A text with some of its words exchanged: how many and how freely, this spinner's own habit decides."""
        rate = random.choice(rates)
        habit = random.choice(HABITS)
        spares_names = random.random() < _SPARES_NAMES
        grammar = Wording.of(self.language).function_words
        spun: MarkedText = []
        for piece in marked(text):
            name = piece.text[:1].isupper() and bool(spun) and spun[-1].text == " "
            eligible = piece.is_word and len(piece.text) > 2 and piece.text.lower() not in grammar
            if eligible and not (name and spares_names) and random.random() < rate:
                spun.append(self._exchanged(piece, habit(self._substitutes(piece.text.lower())), random))
            else:
                spun.append(piece)
        return spun

    def _exchanged(self, piece: Piece, substitutes: Sequence[Substitute], random: Random) -> Piece:
        chosen = random.choice(substitutes).text if substitutes else piece.text
        if chosen.lower() == piece.text.lower():
            return piece
        return Piece(cased_like(chosen, piece.text), replaced=True)

    def _substitutes(self, word: str) -> list[Substitute]:
        """Those of the first reading that has any."""
        if word not in self._known:
            english = self.language == "en"
            forms = readings(word) if english else analogy.readings(word, self.thesaurus.entries)
            found = (self._of_reading(lemma, ending) for lemma, ending in forms)
            self._known[word] = next(filter(None, found), [])
        return self._known[word]

    def _of_reading(self, lemma: str, ending: str) -> list[Substitute]:
        speeches = _SPEECH_OF_ENDING.get(ending)
        put_on = inflected if self.language == "en" else analogy.inflected
        return [
            substitute._replace(text=put_on(substitute.text, ending))
            for speech, substitute in self.thesaurus.of(lemma)
            if (speeches is None or speech in speeches) and substitute.text.lower() != lemma
        ]


def _anything(substitutes: list[Substitute]) -> list[Substitute]:
    return substitutes


def _synonyms(substitutes: list[Substitute]) -> list[Substitute]:
    return [substitute for substitute in substitutes if substitute.synonym]


def _usual_synonyms(substitutes: list[Substitute]) -> list[Substitute]:
    return [substitute for substitute in _synonyms(substitutes) if substitute.sense < _FIRST_SENSES]


def _first_sense(substitutes: list[Substitute]) -> list[Substitute]:
    return [substitute for substitute in substitutes if substitute.sense == 0]


HABITS = (_anything, _anything, _first_sense, _synonyms, _usual_synonyms, _usual_synonyms)
