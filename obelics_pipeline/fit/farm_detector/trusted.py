"""The trusted texts that generated text is made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from random import Random

from obelics_pipeline.fit.farm_detector.marked_text import WORD, count_words, sentences
from obelics_pipeline.fit.farm_detector.wording import Wording

LENGTHS = (120, 200, 300, 400, 450, 500)  # words of a made document
_COMMON = 5  # times that a word must occur to be taken for another


class TrustedTexts:
    """Texts that people wrote, cut into sentences once."""

    def __init__(self, texts: Sequence[str], language: str = "en") -> None:
        self.texts = texts
        self.language, self.wording = language, Wording.of(language)
        self.sentences = [sentences(text) for text in texts]
        self._written = [number for number, found in enumerate(self.sentences) if found]

    @cached_property
    def common_words(self) -> list[str]:
        """Lower-case words that carry meaning and are not rare, the most frequent first."""
        count = Counter(word for text in self.texts for word in WORD.findall(text) if word == word.lower())
        grammar = self.wording.function_words
        usual = [w for w, n in count.items() if n >= _COMMON and len(w) > 2 and w not in grammar]
        return sorted(usual, key=lambda word: (-count[word], word))

    @cached_property
    def rank(self) -> dict[str, int]:
        """The place of a word among the common ones."""
        return {word: place for place, word in enumerate(self.common_words)}

    def some(self, random: Random) -> list[str]:
        """The sentences of some text."""
        return self.sentences[random.choice(self._written)]

    def passage(self, random: Random, words: int | None = None) -> str:
        """Paragraphs of one text that stand together: so many words, or the length of any made document."""
        words = words or random.choice(LENGTHS)
        paragraphs = random.choice(self.texts).split("\n\n")
        begin = random.randrange(len(paragraphs)) if sum(map(count_words, paragraphs)) > 1.5 * words else 0
        taken: list[str] = []
        for paragraph in paragraphs[begin:]:
            taken.append(paragraph)
            words -= count_words(paragraph)
            if words <= 0:
                break
        if words < 0:  # the last one is cut
            last = taken.pop().split(" ")
            taken.append(" ".join(last[: max(1, len(last) + words)]))
        return "\n\n".join(taken)
