"""Phrases of unrelated texts, one after the other within sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

from obelics_pipeline.fit.farm_detector.marked_text import MarkedText, Piece, after_a_junction, in_paragraphs, marked
from obelics_pipeline.fit.farm_detector.trusted import LENGTHS, TrustedTexts

SOURCES = (2, 3, 5, 20, 50)  # texts that one document is spliced of
_CLAUSE = re.compile(r"(?<=[,;:])\s+|\s+(?=(?:and|but|which|that|who|because|when|while|if|with|for|to|in|of|as)\b)")


def spliced(trusted: TrustedTexts, random: Random) -> MarkedText:
    """Sentences that begin as one, go on as a second, and end as a third."""
    pool = [sentence for _ in range(random.choice(SOURCES)) for sentence in trusted.some(random)]
    words = random.choice(LENGTHS)
    made: list[MarkedText] = []
    while words > 0:
        sentence = _spliced_sentence(pool, random)
        words -= max(1, sum(piece.is_word for piece in sentence))
        made.append(sentence)
    return in_paragraphs(made, random)


def phrases(sentence: str, random: Random) -> list[str]:
    """A sentence cut at its clauses, or anywhere, every three to nine words."""
    if random.random() < 0.5:
        return [phrase for phrase in _CLAUSE.split(sentence) if phrase]
    words = sentence.split(" ")
    found = []
    while words:
        length = random.randint(3, 9)
        found.append(" ".join(words[:length]))
        words = words[length:]
    return found


def _spliced_sentence(pool: Sequence[str], random: Random) -> MarkedText:
    made: MarkedText = []
    number = random.randint(2, 5)
    for place in range(number):
        cut = phrases(random.choice(pool), random)
        phrase = (cut[0] if place == 0 else cut[-1] if place == number - 1 else random.choice(cut)).strip()
        if not phrase:
            continue
        if not made:
            made = marked(phrase)
            continue
        if phrase[0].isupper() and not phrase.startswith("I ") and random.random() < 0.7:
            phrase = phrase[0].lower() + phrase[1:]
        made += [Piece(" "), *after_a_junction(marked(phrase))]
    if made and made[-1].is_word:
        made.append(Piece("."))
    return made
