"""Pages by rule: lives, shops, places and doorways by a grammar, and sentences of people with other words in them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from random import Random

from obelics_pipeline.fit.farm_detector.marked_text import FUNCTION_WORDS, MarkedText, Piece, marked
from obelics_pipeline.fit.farm_detector.second.rewording import paragraphs
from obelics_pipeline.fit.farm_detector.second.topics import Topics, length

_PAGES = Path(__file__).with_name("grammars.txt").read_text("utf-8").split("\n[")[1:]
_KINDS = [page.strip().splitlines()[1:] for page in _PAGES]  # sentences of each
_MONTHS = "January February March April May June July August September October November December".split()
_TRADES = """\
plumber|locksmith|roofer|electrician|painter|dentist|tow truck|movers|carpet cleaner|pest control|tree service|\
lawyer|chiropractor|garage door|window cleaner|landscaper|<word> repair|<word> specialist|<word> rental""".split("|")
_CHOICE = re.compile(r"\(([^()]*\|[^()]*)\)")
_SLOT = re.compile(r"<(\w+)>")


def by_rule(topics: Topics, random: Random) -> MarkedText:
    """A page of one of the grammars, with or without sentences of people about nothing of it."""
    lines = random.choice(_KINDS)
    told = _Told(topics, random)
    chosen = lines if random.random() < 0.4 else random.sample(lines, random.randint(3, len(lines)))
    again, prose = random.random() < 0.7, random.choice((0.0, 0.0, 0.2, 0.5))
    sentences = topics.trusted.some(random)
    left, parts = length(random), list[MarkedText]()
    while left > 0 and (again or len(parts) < len(chosen)):
        line = random.choice(sentences) if random.random() < prose else told.fill(chosen[len(parts) % len(chosen)])
        left -= line.count(" ") + 1
        parts.append(marked(line))
    return paragraphs(parts, random)


class _Told:
    """What a page is about."""

    def __init__(self, topics: Topics, random: Random) -> None:
        self._topics, self._random = topics, random
        name, place, other = (random.choice(topics.names) for _ in range(3))
        trade = _SLOT.sub(lambda _: random.choice(topics.usual), random.choice(_TRADES))
        model = f"{random.choice('ABCEGKLMRSTXZ')}{random.randint(1, 999)}"
        self._facts: Mapping[str, str] = {"name": name, "place": place, "other": other, "trade": trade, "model": model}
        self._loose = random.random() < 0.3  # a new fact each time

    def fill(self, line: str) -> str:
        while found := _CHOICE.search(line):
            line = line[: found.start()] + self._random.choice(found[1].split("|")) + line[found.end() :]
        line = _SLOT.sub(lambda slot: self._of(slot[1]), line)
        return line[:1].upper() + line[1:]

    def _of(self, slot: str) -> str:
        random, topics = self._random, self._topics
        if slot in self._facts and not (self._loose and slot in ("place", "other")):
            return self._facts[slot]
        numbers = {"few": 9, "day": 28, "age": 95, "phone": 99999}
        if slot in numbers:
            return str(random.randint(1, numbers[slot]))
        if slot == "year":
            return str(random.randint(1850, 2025))
        if slot == "month":
            return random.choice(_MONTHS)
        if slot in ("person", "place", "other"):
            return random.choice(topics.names)
        word = random.choice(topics.usual)
        return word.capitalize() if slot[0].isupper() else word


def slots(topics: Topics, random: Random) -> MarkedText:
    """A few sentences of people as templates: again and again, with other words for some of theirs."""
    sentences = [s for some in topics.on_any(random, random.randint(1, 4)) for s in some if s.count(" ") > 4]
    chosen = [marked(s) for s in random.sample(sentences, min(len(sentences), random.randint(2, 15)))]
    share, key = random.choice((0.2, 0.4, 0.7)), random.choice(topics.usual)
    keys = random.choice((0.0, 0.2, 0.6))  # share of the slots that the word of the page fills
    templates = [
        [p.is_word and p.text.lower() not in FUNCTION_WORDS and random.random() < share for p in s] for s in chosen
    ]
    left, parts = length(random), list[MarkedText]()
    while left > 0 and chosen:
        at = random.randrange(len(chosen))
        made = []
        for piece, slot in zip(chosen[at], templates[at], strict=True):
            word = key if random.random() < keys else random.choice(topics.usual)
            made.append(Piece(word.capitalize() if piece.text[0].isupper() else word, True) if slot else piece)
        left -= len(made) // 2
        parts.append(made)
    return paragraphs(parts or [marked(key)], random)
