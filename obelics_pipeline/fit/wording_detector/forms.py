"""Forms that are filled in: the same sentences again, with other words in their blanks. Of any language."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from obelics_pipeline.fit.farm_detector.marked_text import MarkedText, Piece, cased_like, in_paragraphs, marked
from obelics_pipeline.fit.farm_detector.trusted import LENGTHS, TrustedTexts

SENTENCES = (2, 30)  # of a form, fewest and most
TEXTS = (1, 2, 5, 30)  # that they are taken from
BLANKS = (0.05, 0.15, 0.3, 0.5)  # share of the words that carry meaning
_WORDS = range(4, 30)  # of a sentence
_LONG = 5  # letters of a word that is left blank, and more


def filled_in(trusted: TrustedTexts, random: Random) -> MarkedText:
    """A page of a form, as long as any made document: whatever is said is said again until it is long enough."""
    pool = [sentence for _ in range(random.choice(TEXTS)) for sentence in trusted.some(random)]
    said = [sentence for sentence in pool if sentence.count(" ") + 1 in _WORDS] or pool
    form = random.sample(said, min(len(said), random.randint(*SENTENCES)))
    blanks = [_blanks(marked(sentence), random.choice(BLANKS), random) for sentence in form]
    own = [random.choice(trusted.common_words) for _ in range(random.randint(1, 4))]
    keeps, in_turn = random.choice((1.0, 0.9, 0.5)), random.random() < 0.5
    left, parts = random.choice(LENGTHS), list[MarkedText]()
    while left > 0:
        order = range(len(form)) if in_turn else random.sample(range(len(form)), len(form))
        for number in order:
            if left <= 0:
                break
            parts.append(_filled(marked(form[number]), blanks[number], own, keeps, trusted, random))
            left -= form[number].count(" ") + 1
    return in_paragraphs(parts, random)


def _blanks(pieces: MarkedText, share: float, random: Random) -> dict[int, int]:
    """Places of words that are blank, each with which of the page's own words fills it."""
    long = [at for at, piece in enumerate(pieces) if piece.is_word and len(piece.text) >= _LONG]
    return {at: random.randrange(4) for at in long if random.random() < share}


def _filled(
    pieces: MarkedText,
    blanks: dict[int, int],
    own: Sequence[str],
    keeps: float,
    trusted: TrustedTexts,
    random: Random,
) -> MarkedText:
    """A sentence with its blanks filled, now and then with another word than the page's own, and other numbers."""
    made: MarkedText = []
    for at, piece in enumerate(pieces):
        if at in blanks:
            word = own[blanks[at] % len(own)] if random.random() < keeps else random.choice(trusted.common_words)
            made.append(Piece(cased_like(word, piece.text), replaced=True))
        elif any(map(str.isdigit, piece.text)):
            made.append(Piece("".join(random.choice("0123456789") if c.isdigit() else c for c in piece.text)))
        else:
            made.append(piece)
    return made
