"""Words exchanged for any others, of about the same frequency or not: what no thesaurus has."""

from random import Random

from obelics_pipeline.fit.farm_detector.marked_text import MarkedText, Piece, cased_like, marked
from obelics_pipeline.fit.farm_detector.trusted import TrustedTexts

RATES = (0.05, 0.1, 0.2, 0.3, 0.4)


def wrong_words(trusted: TrustedTexts, random: Random) -> MarkedText:
    """A passage in which some words that carry meaning are others."""
    rate = random.choice(RATES)
    of_like_frequency = random.random() < 0.5
    made: MarkedText = []
    for piece in marked(trusted.passage(random)):
        eligible = piece.is_word and len(piece.text) > 2 and piece.text.lower() not in trusted.wording.function_words
        if eligible and random.random() < rate:
            place = trusted.rank.get(piece.text.lower()) if of_like_frequency else None
            other = _near(trusted.common_words, place, random)
            made.append(Piece(cased_like(other, piece.text), replaced=other != piece.text.lower()))
        else:
            made.append(piece)
    return made


def _near(words: list[str], place: int | None, random: Random) -> str:
    if place is None:
        return random.choice(words)
    chosen = int(place * random.uniform(0.5, 2)) + random.randint(-20, 20)
    return words[min(max(chosen, 0), len(words) - 1)]
