"""Sentences of several texts or of one, and words, out of their order."""

from __future__ import annotations

from random import Random

from obelics_pipeline.fit.farm_detector.marked_text import (
    MarkedText,
    after_a_junction,
    count_words,
    in_paragraphs,
    marked,
    sentences,
)
from obelics_pipeline.fit.farm_detector.trusted import LENGTHS, TrustedTexts

SOURCES = (2, 3, 4, 8, 30, 100)
WINDOWS = (2, 3, 4, 8)  # words that change places among each other
SHARES = (0.2, 0.5, 1.0)  # of the windows that are shuffled


def mixed_sentences(trusted: TrustedTexts, random: Random) -> MarkedText:
    """Whole sentences of several texts."""
    pool = [sentence for _ in range(random.choice(SOURCES)) for sentence in trusted.some(random)]
    random.shuffle(pool)
    words = random.choice(LENGTHS)
    taken: list[MarkedText] = []
    while pool and words > 0:
        sentence = pool.pop()
        words -= count_words(sentence)
        taken.append(after_a_junction(marked(sentence)) if taken else marked(sentence))
    return in_paragraphs(taken, random)


def sentences_out_of_order(trusted: TrustedTexts, random: Random) -> MarkedText:
    """The sentences of a passage."""
    parts = [marked(sentence) for sentence in sentences(trusted.passage(random))]
    random.shuffle(parts)
    return in_paragraphs([*parts[:1], *map(after_a_junction, parts[1:])], random)


def words_out_of_order(trusted: TrustedTexts, random: Random) -> MarkedText:
    """Words that change places with those near them."""
    window, share = random.choice(WINDOWS), random.choice(SHARES)
    parts = [_words_moved(marked(s), window, share, random) for s in sentences(trusted.passage(random))]
    return in_paragraphs(parts, random)


def _words_moved(pieces: MarkedText, window: int, share: float, random: Random) -> MarkedText:
    places = [number for number, piece in enumerate(pieces) if piece.is_word]
    order: list[int] = []
    for begin in range(0, len(places), window):
        near = places[begin : begin + window]
        if random.random() < share:
            random.shuffle(near)
        order += near
    return reordered(pieces, places, order)


def reordered(pieces: MarkedText, places: list[int], order: list[int]) -> MarkedText:
    """Pieces with those at `order` put in turn where those at `places` were."""
    made = list(pieces)
    for place, source in zip(places, order, strict=True):
        if place != source:
            made[place] = pieces[source]._replace(replaced=True)
    return made
