"""Text of chains over words, letters or the content words of sentences, made of few texts or of one subject."""

from __future__ import annotations

from collections import defaultdict
from random import Random

from obelics_pipeline.fit.farm_detector.marked_text import FUNCTION_WORDS, MarkedText, Piece, after_a_junction, marked
from obelics_pipeline.fit.farm_detector.second.rewording import paragraphs
from obelics_pipeline.fit.farm_detector.second.topics import Topics, length

_TEXTS = (1, 3, 10, 40)
_MOST = 12_000  # words of them
_BREAK = "\0"  # between sentences


def babble(topics: Topics, random: Random) -> MarkedText:
    """Of one of the kinds."""
    texts = random.choice((topics.on_one, topics.on_any))(random, random.choice(_TEXTS))
    sentences = [sentence for some in texts for sentence in some]
    kind = random.random()
    if kind < 0.2:
        return _letters(sentences, random)
    if kind < 0.4:
        return paragraphs(
            [_refilled(random.choice(sentences), sentences, random) for _ in range(length(random) // 18)], random
        )
    return _words(sentences, random)


def _words(sentences: list[str], random: Random) -> MarkedText:
    """Each word follows the last few; where these go on in one way only, often the last of them alone."""
    longest, shorter = random.randint(1, 4), random.random() / 2
    words = [word for sentence in sentences for word in (*sentence.split(), _BREAK)][:_MOST]
    after: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for order in range(1, longest + 1):
        for place in range(order, len(words)):
            after[tuple(words[place - order : place])].append(place)
    made, left = [_BREAK], length(random)
    pieces: MarkedText = []
    last = -1
    while left > 0:
        order = min(longest, len(made))
        while order > 1 and (
            tuple(made[-order:]) not in after or (random.random() < shorter and len(after[tuple(made[-order:])]) == 1)
        ):
            order -= 1
        places = after.get(tuple(made[-order:])) or range(len(words))
        place = random.choice(places)
        word = words[place]
        made.append(word)
        left -= 1
        if word == _BREAK:
            pieces.append(Piece(random.choice((" ", " ", " ", "\n\n"))))
        else:
            new = marked(word)
            pieces += [*(after_a_junction(new) if place != last + 1 and made[-2] != _BREAK else new), Piece(" ")]
        last = place
    return pieces


def _letters(sentences: list[str], random: Random) -> MarkedText:
    """The same with letters: words that are none come of it."""
    order, text = random.randint(4, 8), " ".join(sentences)[:30_000]
    after: dict[str, list[str]] = defaultdict(list)
    for place in range(len(text) - order):
        after[text[place : place + order]].append(text[place + order])
    made = text[:order]
    for _ in range(6 * length(random)):
        made += random.choice(after.get(made[-order:]) or [" "])
        if made[-order:] not in after:
            begin = random.randrange(max(1, len(text) - order))
            made += text[begin : begin + order]
    return [piece._replace(replaced=piece.is_word and random.random() < 0.2) for piece in marked(made)]


def _refilled(sentence: str, sentences: list[str], random: Random) -> MarkedText:
    """A sentence whose content words are those of others."""
    share, pool = random.choice((0.5, 1.0)), marked(random.choice(sentences)) + marked(random.choice(sentences))
    words = [p.text for p in pool if p.is_word and p.text.lower() not in FUNCTION_WORDS] or ["thing"]
    return [
        Piece(random.choice(words), replaced=True)
        if piece.is_word and piece.text.lower() not in FUNCTION_WORDS and random.random() < share
        else piece
        for piece in marked(sentence)
    ]
