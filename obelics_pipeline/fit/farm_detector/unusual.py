"""Honest text that looks unusual: what a detector must not take for generated text.

A passage of a trusted text, laid out as verse or a list, or written with a learner's or a typist's mistakes.
"""

from __future__ import annotations

from random import Random

from obelics_pipeline.fit.farm_detector.layouts import (
    Layout,
    as_it_is,
    bullets,
    hard_wrapped,
    verse,
    with_tables,
    without_capitals,
)
from obelics_pipeline.fit.farm_detector.marked_text import MarkedText, Piece, marked, plain, sentences
from obelics_pipeline.fit.farm_detector.splicing import phrases
from obelics_pipeline.fit.farm_detector.trusted import TrustedTexts

_PREPOSITIONS = ("in", "on", "at", "to", "for", "of", "by", "with")
_MISTYPED = 0.03  # share of words
_UNSAID = frozenset(
    """
    a am an and are be been being by did do does had has have he her his i is it its my of our she so that the their
    them there they to was we were which will with would you your
    """.split()
)
_MEASURED = 0.05  # share of words before which there is a quantity
_UNITS = ("", "", " oz", " lb", " g", " ml", " cm", " in.", " mins", " hrs", " tsp", " pt", " x")
_AMOUNTS = ("½", "¼", "¾", "1½", *map(str, range(1, 21)), "50", "100", "250")
_POSTS = (60, 150)  # words


def fragments(text: MarkedText, random: Random) -> MarkedText:
    """A list of pieces of its sentences."""
    cut = (phrases(sentence, random)[:3] for sentence in sentences(plain(text)))
    return marked("\n".join(phrase.strip(" ,;:") for found in cut for phrase in found))


def learner(text: MarkedText, random: Random) -> MarkedText:
    """Articles left out, and prepositions that are others."""
    rate = random.choice((0.15, 0.3, 0.5))
    made: MarkedText = []
    for piece in text:
        word = piece.text.lower()
        if word in ("the", "a", "an") and random.random() < rate:
            if made and made[-1].text == " ":
                made.pop()
            continue
        if word in _PREPOSITIONS and random.random() < rate / 2:
            made.append(Piece(random.choice(_PREPOSITIONS)))
        else:
            made.append(piece)
    return made


def telegraphic(text: MarkedText, random: Random) -> MarkedText:
    """Notes to oneself, cards and small ads: what goes without saying is left out, and quantities are there."""
    rate = random.choice((0.6, 0.9, 1.0))
    made: MarkedText = []
    for piece in text:
        if piece.text.lower() in _UNSAID and random.random() < rate:
            if made and made[-1].text == " ":
                made.pop()
            continue
        if piece.is_word and random.random() < _MEASURED:
            made.append(Piece(f"{random.choice(_AMOUNTS)}{random.choice(_UNITS)} "))
        made.append(piece)
    return made


def posts(trusted: TrustedTexts, random: Random) -> str:
    """Some texts one after the other: the first page of a blog, a digest, or an article and its comments."""
    return "\n\n".join(trusted.passage(random, random.randint(*_POSTS)) for _ in range(random.randint(2, 5)))


def mistyped(text: MarkedText, random: Random) -> MarkedText:
    """Letters that changed places."""
    return [_mistyped(piece, random) for piece in text]


def _mistyped(piece: Piece, random: Random) -> Piece:
    if not piece.is_word or len(piece.text) < 4 or random.random() >= _MISTYPED:
        return piece
    at = random.randrange(1, len(piece.text) - 2)
    word = piece.text
    return piece._replace(text=word[:at] + word[at + 1] + word[at] + word[at + 2 :])


# Share of honest documents, and of generated ones: what people do to a text is not what a program does, but either may
# stand in lines or in a list.
_HONEST: tuple[tuple[Layout, float], ...] = (
    (as_it_is, 0.43),
    (hard_wrapped, 0.1),
    (verse, 0.1),
    (bullets, 0.08),
    (with_tables, 0.06),
    (fragments, 0.05),
    (without_capitals, 0.05),
    (learner, 0.06),
    (telegraphic, 0.03),
    (mistyped, 0.04),
)
_GENERATED: tuple[tuple[Layout, float], ...] = (
    (as_it_is, 0.84),
    (hard_wrapped, 0.05),
    (verse, 0.03),
    (bullets, 0.04),
    (with_tables, 0.02),
    (without_capitals, 0.02),
)


def unusual(text: str, random: Random) -> MarkedText:
    """A text, half of the time as it is, else as people write it too."""
    return _one_of(_HONEST, random)(marked(text), random)


def laid_out(generated: MarkedText, random: Random) -> MarkedText:
    """A generated text, mostly as it is."""
    return _one_of(_GENERATED, random)(generated, random)


def _one_of(kinds: tuple[tuple[Layout, float], ...], random: Random) -> Layout:
    (kind,) = random.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])
    return kind
