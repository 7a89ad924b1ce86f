"""Texts stitched together: parts of sentences, snippets as search engines show them, and sentences in another order."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

from obelics_pipeline.fit.farm_detector.marked_text import MarkedText, Piece, after_a_junction, marked
from obelics_pipeline.fit.farm_detector.second.rewording import paragraphs
from obelics_pipeline.fit.farm_detector.second.topics import Topics, length, run

_CLAUSE = re.compile(r"(?<=[,;:])\s|\s(?=(?:and|but|or|because|which|that|when|while|if|who|as|to|with|for|in)\s)")
_STYLES = ("", "", "", ",", " and", " -", "…", "...", ".", " or", " so that", ";")
_ENDS = (".", "!", "?", '"', "”")


def stitched(topics: Topics, random: Random) -> MarkedText:
    """Parts of sentences, one after the other, whatever they say."""
    texts = topics.on_some(random, random.choice((1, 2, 4, 12, 60)))
    cut, style = random.choice((_clauses, _halves, _some_words)), random.choice(_STYLES)
    lowers, per_sentence = random.random() < 0.6, random.choice((2, 2, 3, 4))
    left, parts = length(random), list[MarkedText]()
    while left > 0:
        sentence: MarkedText = []
        for number in range(per_sentence):
            part = random.choice(cut(random.choice(random.choice(texts)), random)).strip()
            part = part.rstrip(".!?,;:") if number + 1 < per_sentence else part
            if not part:
                continue
            if sentence:
                part = part[0].lower() + part[1:] if lowers and not part.startswith("I ") else part
                sentence += [Piece(style + " "), *after_a_junction(marked(part))]
            else:
                sentence = marked(part[0].upper() + part[1:] if lowers else part)
            left -= part.count(" ") + 1
        left -= 1
        parts.append(sentence if "".join(p.text for p in sentence[-1:]).endswith(_ENDS) else [*sentence, Piece(".")])
    return paragraphs(parts, random)


def _clauses(sentence: str, random: Random) -> list[str]:
    return _CLAUSE.split(sentence)


def _halves(sentence: str, random: Random) -> list[str]:
    words = sentence.split(" ")
    middle = random.randint(len(words) // 3, 2 * len(words) // 3)
    return [" ".join(words[:middle]), " ".join(words[middle:])]


def _some_words(sentence: str, random: Random) -> list[str]:
    words, size = sentence.split(" "), random.randint(3, 14)
    return [" ".join(words[begin : begin + size]) for begin in range(0, len(words), size)]


def snippets(topics: Topics, random: Random) -> MarkedText:
    """What a search on a word finds, as a page: a title, and the middle of a text between dots."""
    texts = topics.on_one(random, 12) if random.random() < 0.8 else topics.on_any(random, 12)
    dots, titles = random.choice(("...", "…", " ... ", "", " [...]")), random.choice((0.0, 0.3, 1.0))
    size, between = random.choice((8, 15, 25, 40)), random.choice((" ", " ", "\n", "\n\n"))
    made: MarkedText = []
    left = length(random)
    while left > 0:
        words = " ".join(run(random.choice(texts), random, 2 * size)).split()
        begin = random.randrange(max(1, len(words) - size))
        text = " ".join(words[begin : begin + random.randint(size // 2, 2 * size)])
        if random.random() < titles:
            title = " ".join(random.choice(random.choice(texts)).split()[: random.randint(3, 9)]).strip(".,;")
            made += [Piece(between if made else ""), *marked(f"{title}{random.choice((' - ', ': ', chr(10)))}")]
        elif made:
            made.append(Piece(between))
        made += after_a_junction(marked(f"{dots if begin and random.random() < 0.5 else ''}{text}{dots}"))
        left -= text.count(" ") + 1
    return made


def jumbled(topics: Topics, random: Random) -> MarkedText:
    """Sentences of one text or some, in another order."""
    kept = [run(some, random, length(random)) for some in topics.on_some(random, random.choice((1, 1, 2, 5)))]
    order = random.choice(_ORDERS)
    numbered = [(n, m, s) for n, some in enumerate(kept) for m, s in enumerate(some)]
    before: tuple[int, int] | None = None
    parts: list[MarkedText] = []
    left = length(random)
    for n, m, sentence in order(numbered, random):
        follows = before is None or before == (n, m - 1)
        parts.append(marked(sentence) if follows else after_a_junction(marked(sentence)))
        before = n, m
        left -= sentence.count(" ") + 1
        if left < 0:
            break
    return paragraphs(parts, random)


_Numbered = tuple[int, int, str]


def _any_order(parts: Sequence[_Numbered], random: Random) -> list[_Numbered]:
    return random.sample(parts, len(parts))


def _near_order(parts: Sequence[_Numbered], random: Random) -> list[_Numbered]:
    reach = random.choice((2, 4, 8))
    return [part for _, part in sorted(((n + random.random() * reach), part) for n, part in enumerate(parts))]


def _blocks(parts: Sequence[_Numbered], random: Random) -> list[_Numbered]:
    size = random.choice((2, 3))
    blocks = [parts[begin : begin + size] for begin in range(0, len(parts), size)]
    return [part for block in random.sample(blocks, len(blocks)) for part in block]


def _backwards(parts: Sequence[_Numbered], random: Random) -> list[_Numbered]:
    return list(parts)[::-1]


def _alternating(parts: Sequence[_Numbered], random: Random) -> list[_Numbered]:
    return sorted(parts, key=lambda part: (part[1] // 2, part[0]))


_ORDERS: tuple[Callable[[Sequence[_Numbered], Random], list[_Numbered]], ...] = (
    _any_order,
    _any_order,
    _any_order,
    _near_order,
    _blocks,
    _backwards,
    _alternating,
)
