"""Machine translation of the old kind: a word for a word, in another language's order and with its grammar."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from obelics_pipeline.fit.farm_detector.dictionary import Dictionary
from obelics_pipeline.fit.farm_detector.marked_text import MarkedText, Piece, marked
from obelics_pipeline.fit.farm_detector.second.rewording import paragraphs
from obelics_pipeline.fit.farm_detector.second.topics import Topics, length, run

_PREPOSITIONS = "in on at to for of by with from into about over under between through".split()
_ARTICLES = ("the", "a", "an")
_PRONOUNS = ("he", "she", "it", "they", "we", "I")
_HELPERS = ("do", "does", "did", "has", "have", "had", "been", "will", "would", "is", "are", "was", "were")
_SENSES = 5  # translations of a foreign word that are looked at


@dataclass(frozen=True, slots=True)
class _Grammar:
    """Of one program, how often it does what."""

    words: float  # exchanged
    phrases: float  # left as they are, of runs of a few words
    articles: float  # left out or put in
    prepositions: float
    helpers: float  # left out
    pronouns: float  # left out or another
    order: Callable[[MarkedText, Random], MarkedText]


class Glosser:
    """English by way of the words of another language: of each word, what else its translations mean."""

    def __init__(self, topics: Topics, dictionary: Dictionary) -> None:
        """`dictionary` goes from the other language to English."""
        self._topics = topics
        self._ways: dict[str, list[str]] = defaultdict(list)
        for found in dictionary.entries.values():
            english = [text.removeprefix("to ").lower() for text in found[:_SENSES]]
            for word in english if len(english) > 1 else ():
                if others := [other for other in english if other != word and " " not in word]:
                    self._ways[word] += others

    def make(self, random: Random) -> MarkedText:
        """A passage in such English."""
        grammar = _Grammar(
            words=random.uniform(0.1, 0.95),
            phrases=random.choice((0.0, 0.0, 0.3, 0.6)),
            articles=random.choice((0.0, 0.2, 0.5, 0.9)),
            prepositions=random.choice((0.0, 0.2, 0.5)),
            helpers=random.choice((0.0, 0.0, 0.4, 0.9)),
            pronouns=random.choice((0.0, 0.0, 0.3)),
            order=random.choice((_as_it_is, _late_verbs, _late_adjectives, _late_adjectives, _loose)),
        )
        sentences = run(self._topics.trusted.some(random), random, length(random))
        return paragraphs([self._sentence(sentence, grammar, random) for sentence in sentences], random)

    def _sentence(self, sentence: str, grammar: _Grammar, random: Random) -> MarkedText:
        made: MarkedText = []
        spared = 0
        for piece in marked(sentence):
            if spared <= 0 and random.random() < grammar.phrases / 3:
                spared = random.randint(2, 6)
            spared -= piece.is_word
            made += [piece] if spared > 0 or not piece.is_word else self._word(piece, grammar, random)
        made = grammar.order(made, random)
        first = next((n for n, piece in enumerate(made) if piece.is_word), None)
        if first is not None:
            made[first] = made[first]._replace(text=made[first].text[0].upper() + made[first].text[1:])
        return made

    def _word(self, piece: Piece, grammar: _Grammar, random: Random) -> MarkedText:
        word, chance = piece.text.lower(), random.random()
        if word in _ARTICLES and chance < grammar.articles:
            return [Piece("the", True)] if chance < grammar.articles / 3 and word != "the" else []
        if word in _PREPOSITIONS and chance < grammar.prepositions:
            return [Piece(random.choice(_PREPOSITIONS), True)]
        if word in _HELPERS and chance < grammar.helpers:
            return []
        if piece.text in _PRONOUNS and chance < grammar.pronouns:
            return [Piece(random.choice(_PRONOUNS), True)] if chance < grammar.pronouns / 2 else []
        stem = next((stem for stem in _bare(word) if stem in self._ways), None)
        if stem is None or chance >= grammar.words or word in _ARTICLES:
            return [piece]
        added = [Piece("the ", True)] if random.random() < grammar.articles / 20 else []
        return [*added, Piece(random.choice(self._ways[stem]), replaced=True)]


def _bare(word: str) -> tuple[str, ...]:
    """A word, and what it may be a form of; the form is lost."""
    return (word, word.removesuffix("s"), word.removesuffix("ed"), word.removesuffix("d"), word.removesuffix("ing"))


def _as_it_is(pieces: MarkedText, random: Random) -> MarkedText:
    return pieces


def _late_verbs(pieces: MarkedText, random: Random) -> MarkedText:
    """What ends as verbs do goes to the end of its clause."""
    made: MarkedText = []
    waiting: MarkedText = []
    for piece in pieces:
        if piece.is_word and piece.text.endswith(("ed", "ing", "en", "es")) and random.random() < 0.6:
            waiting += [Piece(" "), piece._replace(replaced=True)]
        elif not piece.is_word and piece.text.strip():
            made += [*waiting, piece]
            waiting = []
        else:
            made.append(piece)
    return made + waiting


def _late_adjectives(pieces: MarkedText, random: Random) -> MarkedText:
    """What ends as adjectives do, or stands after an article and before a word, comes after the next word."""
    made, share, place = list(pieces), random.choice((0.4, 0.8)), 0
    while place + 2 < len(made):
        one, space, two = made[place : place + 3]
        ending = one.text.endswith(("al", "ic", "ous", "ive", "ful", "ant", "ent", "ble", "ary", "est"))
        if one.is_word and two.is_word and space.text == " " and random.random() < (share if ending else share / 8):
            made[place : place + 3] = [two._replace(replaced=True), space, one._replace(replaced=True)]
            place += 2
        place += 1
    return made


def _loose(pieces: MarkedText, random: Random) -> MarkedText:
    """Words change places with one of the next few."""
    made = list(pieces)
    places = [n for n, piece in enumerate(made) if piece.is_word]
    for _ in range(int(len(places) * random.uniform(0.05, 0.3))):
        at = random.randrange(len(places))
        one, two = places[at], places[min(len(places) - 1, at + random.randint(1, 4))]
        made[one], made[two] = made[two]._replace(replaced=True), made[one]._replace(replaced=True)
    return made
