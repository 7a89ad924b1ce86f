"""Endings of any language, by analogy: what makes one word of its base form is done to another word."""

from __future__ import annotations

from collections.abc import Container

from obelics_pipeline.fit.farm_detector.inflection import Reading

_LONGEST = 4  # letters of an ending
_SHORTEST_STEM = 3  # letters that a word and its base form begin with
# Ends of base forms: of German, Romance and Russian verbs, nouns and adjectives.
_BASES = (
    *("", "e", "en", "er", "n", "a", "o", "ar", "ir", "re", "are", "ere", "ire", "eux", "al", "ão", "és"),
    *("а", "я", "о", "ь", "й", "ый", "ий", "ть", "ать", "ить", "еть"),
)
_TO = ">"


def readings(word: str, lemmas: Container[str]) -> list[Reading]:
    """What a lower-cased word may be a form of, itself first, then those that share most letters."""
    found = {word: Reading(word, "")}
    for cut in range(min(_LONGEST, len(word) - _SHORTEST_STEM) + 1):
        stem, ending = word[: len(word) - cut], word[len(word) - cut :]
        for base in _BASES:
            if base != ending and stem + base in lemmas:
                found.setdefault(stem + base, Reading(stem + base, f"{base}{_TO}{ending}"))
    return list(found.values())


def inflected(phrase: str, ending: str) -> str:
    """The first word of a phrase with the ending of a reading, or the phrase itself where it ends in another way."""
    base, _, other = ending.partition(_TO)
    first, space, tail = phrase.partition(" ")
    return first.removesuffix(base) + other + space + tail if ending and first.endswith(base) else phrase
