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
_HEARD = (
    ("ie", "ei"),
    ("ea", "ee"),
    ("ll", "l"),
    ("ss", "s"),
    ("ph", "f"),
    ("a", "e"),
    ("e", "i"),
    ("ou", "o"),
    ("c", "s"),
)
_FILLERS = ("uh", "um", "you know,", "I mean,", "well,", "so", "like", "okay,", "right,", "yeah,")
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
_POSTS = ((60, 150, 5), (12, 60, 12))  # fewest and most words, and most posts: of blogs, and of forums


def fragments(text: MarkedText, random: Random) -> MarkedText:
    """A list of pieces of its sentences."""
    cut = (phrases(sentence, random)[:3] for sentence in sentences(plain(text)))
    return marked("\n".join(phrase.strip(" ,;:") for found in cut for phrase in found))


def learner(text: MarkedText, random: Random) -> MarkedText:
    """Articles left out or put in, prepositions that are others, endings left away, and words as they are heard."""
    rate, heard = random.choice((0.1, 0.2, 0.4)), random.choice((0.0, 0.02, 0.06))
    made: MarkedText = []
    for piece in text:
        word = piece.text.lower()
        if word in ("the", "a", "an") and random.random() < rate:
            if made and made[-1].text == " ":
                made.pop()
            continue
        if word in _PREPOSITIONS and random.random() < rate / 2:
            made.append(Piece(random.choice(_PREPOSITIONS)))
        elif piece.is_word and word == piece.text and len(word) > 4 and random.random() < rate / 3:
            made += [Piece("the "), piece] if random.random() < 0.2 else [piece._replace(text=_without_ending(word))]
        elif piece.is_word and len(word) > 4 and random.random() < heard:
            made.append(piece._replace(text=_as_heard(piece.text, random)))
        else:
            made.append(piece)
    return made


def _without_ending(word: str) -> str:
    for ending in ("s", "ed", "ly"):
        if word.endswith(ending) and not word.endswith("ss"):
            return word.removesuffix(ending)
    return word


def _as_heard(word: str, random: Random) -> str:
    written, heard = random.choice(_HEARD)
    return word.replace(written, heard, 1)


def spoken(text: MarkedText, random: Random) -> MarkedText:
    """As it is written down when people speak: words again, words to think by, who speaks, few marks."""
    again, filled, marks = random.choice((0.0, 0.02, 0.05)), random.choice((0.02, 0.05)), random.random() < 0.5
    speakers = random.choice((("Q", "A"), ("SPEAKER 1", "SPEAKER 2"), ("Mr. Chairman", "Senator"), ()))
    made: MarkedText = [Piece(f"{speakers[0]}: ")] if speakers else []
    turn = 0
    for piece in text:
        if not piece.is_word:
            if speakers and "\n\n" in piece.text:
                turn = 1 - turn
                made += [piece, Piece(f"{speakers[turn]}: ")]
            else:
                made.append(piece if marks or "\n" in piece.text else piece._replace(text=" "))
            continue
        if random.random() < filled:
            made.append(Piece(f"{random.choice(_FILLERS)} "))
        if random.random() < again:
            made += [piece, Piece(random.choice((" ", ", ", " -- ")))]
        made.append(piece if marks else piece._replace(text=piece.text.lower()))
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
    """Some texts one after the other: the first page of a blog, a digest, an article and its comments, a forum."""
    fewest, most, count = random.choice(_POSTS)
    return "\n\n".join(trusted.passage(random, random.randint(fewest, most)) for _ in range(random.randint(2, count)))


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
    (as_it_is, 0.37),
    (hard_wrapped, 0.1),
    (verse, 0.1),
    (bullets, 0.08),
    (with_tables, 0.06),
    (fragments, 0.05),
    (without_capitals, 0.05),
    (learner, 0.09),
    (spoken, 0.03),
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
