"""Honest text that looks unusual: what a detector must not take for generated text.

A passage of a trusted text, laid out as verse or a list, or written with a learner's or a typist's mistakes.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from random import Random

from obelics_pipeline.fit.farm_detector.marked_text import MarkedText, Piece, marked, plain, sentences
from obelics_pipeline.fit.farm_detector.splicing import phrases

_PREPOSITIONS = ("in", "on", "at", "to", "for", "of", "by", "with")
_MISTYPED = 0.03  # share of words
_BULLETS = ("- ", "* ", "• ", "{}. ")


def as_it_is(text: str, random: Random) -> str:
    """Nothing is changed."""
    return text


def hard_wrapped(text: str, random: Random) -> str:
    """Lines of a fixed width, as in mail and source files."""
    width = random.randint(50, 90)
    return "\n\n".join(textwrap.fill(paragraph, width) for paragraph in text.split("\n\n"))


def verse(text: str, random: Random) -> str:
    """A few words to the line, some lines with a capital."""
    length = random.randint(5, 9)
    capitals = random.choice((0.0, 0.6, 1.0))
    return "\n\n".join(_stanza(paragraph.split(), length, capitals, random) for paragraph in text.split("\n\n"))


def _stanza(words: list[str], length: int, capitals: float, random: Random) -> str:
    lines = []
    while words:
        end = max(2, length + random.randint(-2, 2))
        line = " ".join(words[:end])
        lines.append(line[:1].upper() + line[1:] if random.random() < capitals else line)
        words = words[end:]
    return "\n".join(lines)


def bullets(text: str, random: Random) -> str:
    """A list of its sentences."""
    bullet = random.choice(_BULLETS)
    return "\n".join(bullet.format(number) + sentence for number, sentence in enumerate(sentences(text), 1))


def fragments(text: str, random: Random) -> str:
    """A list of pieces of its sentences."""
    found = (phrase.strip(" ,;:") for sentence in sentences(text) for phrase in phrases(sentence, random)[:3])
    return "\n".join(found)


def without_capitals(text: str, random: Random) -> str:
    """As in chats."""
    return text.lower()


def learner(text: str, random: Random) -> str:
    """Articles left out, and prepositions that are others."""
    rate = random.choice((0.15, 0.3, 0.5))
    made: MarkedText = []
    for piece in marked(text):
        word = piece.text.lower()
        if word in ("the", "a", "an") and random.random() < rate:
            if made and made[-1].text == " ":
                made.pop()
            continue
        if word in _PREPOSITIONS and random.random() < rate / 2:
            made.append(Piece(random.choice(_PREPOSITIONS)))
        else:
            made.append(piece)
    return plain(made)


def mistyped(text: str, random: Random) -> str:
    """Letters that changed places."""
    return plain(_mistyped(piece, random) for piece in marked(text))


def _mistyped(piece: Piece, random: Random) -> Piece:
    if not piece.is_word or len(piece.text) < 4 or random.random() >= _MISTYPED:
        return piece
    at = random.randrange(1, len(piece.text) - 2)
    word = piece.text
    return Piece(word[:at] + word[at + 1] + word[at] + word[at + 2 :])


_KINDS: tuple[tuple[Callable[[str, Random], str], float], ...] = (
    (as_it_is, 0.5),
    (hard_wrapped, 0.1),
    (verse, 0.1),
    (bullets, 0.08),
    (fragments, 0.05),
    (without_capitals, 0.05),
    (learner, 0.07),
    (mistyped, 0.05),
)


def unusual(text: str, random: Random) -> MarkedText:
    """A text, half of the time as it is, else as people write it too."""
    (kind,) = random.choices([kind for kind, _ in _KINDS], [weight for _, weight in _KINDS])
    return marked(kind(text, random))
