"""Trusted texts by what they are about."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from random import Random

from obelics_pipeline.fit.farm_detector.trusted import TrustedTexts

_WORD = re.compile(r"[a-z]{4,}")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+(?: [A-Z][a-z]+)?")
_FEWEST, _LARGEST = 3, 0.1  # texts of a subject, and their largest share of all
_LENGTHS = (60, 700)  # words of a document


class Topics:
    """Words that some texts share and most do not, and what stands in those texts."""

    def __init__(self, trusted: TrustedTexts) -> None:
        self.trusted = trusted
        texts: dict[str, list[int]] = defaultdict(list)
        names: dict[str, None] = {}
        for number, text in enumerate(trusted.texts):
            for word in sorted(set(_WORD.findall(text))):
                texts[word].append(number)
            names |= dict.fromkeys(_NAME.findall(text))
        most = max(_FEWEST, int(_LARGEST * len(trusted.texts)))
        self._texts = {word: found for word, found in texts.items() if _FEWEST <= len(found) <= most}
        self.words = sorted(self._texts) or sorted(texts) or ["text"]
        self.names = sorted(names) or ["Nobody"]
        self.usual = [word for word in self.words if len(texts[word]) >= 2 * _FEWEST] or self.words

    def on_one(self, random: Random, count: int) -> list[list[str]]:
        """The sentences of so many texts that share a word."""
        found = self._texts.get(random.choice(self.words), [])
        chosen = [self.trusted.sentences[number] for number in random.sample(found, min(count, len(found)))]
        return [some for some in chosen if some] or [self.trusted.some(random)]

    def on_any(self, random: Random, count: int) -> list[list[str]]:
        """The sentences of so many texts."""
        return [self.trusted.some(random) for _ in range(count)]

    def on_some(self, random: Random, most: int) -> list[list[str]]:
        """The sentences of some texts, on one subject or on any."""
        return random.choice((self.on_one, self.on_any))(random, random.randint(1, most))


def length(random: Random) -> int:
    """How many words a document shall have."""
    return int(_LENGTHS[0] * (_LENGTHS[1] / _LENGTHS[0]) ** random.random())


def run(sentences: Sequence[str], random: Random, words: int) -> list[str]:
    """Sentences next to each other, of so many words or a few more."""
    begin = random.randrange(len(sentences))
    taken: list[str] = []
    for sentence in sentences[begin:]:
        taken.append(sentence)
        words -= len(sentence.split())
        if words <= 0:
            break
    return taken
