"""Words of an article exchanged for what WordNet has for them, and seed articles, which hold several ways to say it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from obelics_pipeline.fit.farm_detector.marked_text import MarkedText, Piece, marked
from obelics_pipeline.fit.farm_detector.second.topics import Topics, length, run
from obelics_pipeline.fit.farm_detector.second.wordnet import ADJECTIVE, NOUN, VERB, Wordnet

_LEAST, _MOST = 0.1, 0.8  # share of the words that have another
_SPARED = frozenset(
    """
    be is are was were am been being have has had having do does did done will would can could may might shall should
    must not no the a an this that these those it he she they we you i me my his her their our your its and or but if
    as at by for from in into of on to with than then there here who what which when where how why all any both each
    more most other some such only own same so too very just also one two three first last new now up out over
    """.split()
)
_OPENERS = """\
In fact,|As a matter of fact,|Moreover,|On top of that,|In other words,|Needless to say,|Interestingly,|Of course,|\
At the same time,|For this reason,|In addition,|Generally speaking,|To be honest,|Above all,""".split("|")
_BROKEN = 0.05  # seed articles whose brackets are left in places


@dataclass(frozen=True, slots=True)
class _Habits:
    """Of one program."""

    share: float
    senses: int  # that it looks at
    wider: float  # share of wider words
    phrases: bool
    names: bool  # exchanged too
    endings: float  # share of words that get the ending of the one they replace
    fixed: bool  # a word always becomes the same
    memory: dict[str, str] = field(default_factory=dict)


def _habits(random: Random) -> _Habits:
    return _Habits(
        share=_LEAST * (_MOST / _LEAST) ** random.random(),
        senses=random.choice((1, 2, 4, 20)),
        wider=random.choice((0.0, 0.0, 0.1, 0.3)),
        phrases=random.random() < 0.5,
        names=random.random() < 0.2,
        endings=random.choice((0.3, 0.9, 1.0, 1.0)),
        fixed=random.random() < 0.5,
    )


class Reworder:
    """Makes both kinds of documents."""

    def __init__(self, topics: Topics, wordnet: Wordnet) -> None:
        self._topics = topics
        self._wordnet = wordnet
        self._ways: dict[str, list[tuple[str, int, bool, str]]] = {}

    def reworded(self, random: Random) -> MarkedText:
        """A passage with other words."""
        habits = _habits(random)
        parts = [
            self._sentence(s, habits, random) for s in run(self._topics.trusted.some(random), random, length(random))
        ]
        return paragraphs(parts, random)

    def seed_article(self, random: Random) -> MarkedText:
        """One page of those that a seed article gives."""
        habits, broken = _habits(random), random.random() < _BROKEN
        drop, open_with, move = random.random() / 4, random.random() / 4, random.random() < 0.3
        parts: list[MarkedText] = []
        for sentence in run(self._topics.trusted.some(random), random, length(random)):
            if random.random() < drop:
                continue
            part = self._sentence(sentence, habits, random)
            if random.random() < open_with:
                opener = [Piece(piece.text, True) for piece in marked(random.choice(_OPENERS))]
                part = [*opener, Piece(" "), *part]
            if broken and part and random.random() < 0.3:
                part = [Piece("{"), *part[: len(part) // 2], Piece("|"), *part[len(part) // 2 :], Piece("}")]
            parts.append(part)
        if move:
            for place in range(0, len(parts) - 1, 2):
                if random.random() < 0.5:
                    parts[place : place + 2] = parts[place : place + 2][::-1]
        return paragraphs(parts or [marked("Page not found.")], random)

    def _sentence(self, sentence: str, habits: _Habits, random: Random) -> MarkedText:
        return [self._exchanged(piece, n > 0, habits, random) for n, piece in enumerate(marked(sentence))]

    def _exchanged(self, piece: Piece, inside: bool, habits: _Habits, random: Random) -> Piece:
        word = piece.text.lower()
        if not piece.is_word or word in _SPARED or random.random() >= habits.share:
            return piece
        if inside and piece.text[0].isupper() and not habits.names:
            return piece
        if not (habits.fixed and word in habits.memory):
            kept = [
                text + (ending if random.random() < habits.endings else "")
                for text, sense, wider, ending in self._of(word)
                if sense < habits.senses
                and (habits.phrases or " " not in text)
                and (not wider or random.random() < habits.wider)
            ]
            habits.memory[word] = random.choice(kept) if kept else word
        text = _with_ending(habits.memory[word])
        if text == word:
            return piece
        if piece.text[0].isupper():
            text = text[0].upper() + text[1:]
        return Piece(text, replaced=True)

    def _of(self, word: str) -> list[tuple[str, int, bool, str]]:
        """Other words, the number of the sense, whether they are wider, and the ending to add, of a word."""
        if word not in self._ways:
            found: list[tuple[str, int, bool, str]] = []
            for stem, ending, speeches in _stems(word):
                senses = [s for s in self._wordnet.senses.get(stem, ()) if s.speech in speeches]
                for number, sense in enumerate(senses):
                    found += [(text, number, False, ending) for text in sense.same]
                    found += [(text, number, True, ending) for text in sense.wider]
                if found:
                    break
            self._ways[word] = found
        return self._ways[word]


def _stems(word: str) -> list[tuple[str, str, str]]:
    """Words that a word may be a form of, the mark of its ending, and the parts of speech that have it."""
    found = [(word, "", NOUN + VERB + ADJECTIVE + "r")]
    for ending, speeches in (("s", NOUN + VERB), ("ed", VERB), ("ing", VERB)):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            bare = word.removesuffix(ending)
            stems = [bare, bare + "e", bare[:-1] if bare[-1:] == bare[-2:-1] else bare]
            if bare.endswith(("i", "ie")):
                stems.append(bare.rstrip("e").removesuffix("i") + "y")
            if ending == "s" and bare.endswith("e"):
                stems.append(bare[:-1])
            found = [(stem, "+" + ending, speeches) for stem in stems] + found
    return found


def _with_ending(text: str) -> str:
    """`study+ed` as studied."""
    stem, mark, ending = text.partition("+")
    if not mark:
        return stem
    first, space, rest = stem.partition(" ")
    if ending == "s":
        made = first[:-1] + "ies" if first[-1:] == "y" and first[-2:-1] not in "aeiou" else first + "s"
        made = first + "es" if first.endswith(("s", "x", "ch", "sh")) else made
    elif first.endswith("e"):
        made = first[:-1] + ending if ending == "ing" else first + "d"
    else:
        made = (
            first[:-1] + "ied"
            if ending == "ed" and first[-1:] == "y" and first[-2:-1] not in "aeiou"
            else first + ending
        )
    return made + space + rest


def paragraphs(parts: Sequence[MarkedText], random: Random) -> MarkedText:
    """Sentences, a blank line after some of them."""
    breaks = random.choice((0.0, 0.1, 0.2, 0.5, 1.0))
    made: MarkedText = []
    for part in parts:
        if made:
            made.append(Piece("\n\n" if random.random() < breaks else " "))
        made += part
    return made
