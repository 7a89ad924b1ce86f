"""Endings of English words, taken off and put on without regard to exceptions, as spinning programs do it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

PLURAL, PAST, GERUND = "s", "ed", "ing"
_IRREGULAR = Path(__file__).parent / "irregular.txt"
_VOWELS = "aeiou"


class Reading(NamedTuple):
    """What a word may be a form of."""

    lemma: str
    ending: str  # of the word: empty, or one of PLURAL, PAST, GERUND


def readings(word: str) -> list[Reading]:
    """What a lower-cased word may be a form of, the word itself first; many of them are no words."""
    found = [Reading(word, ""), *_irregular().get(word, ())]
    if word.endswith("ies") and len(word) > 4:
        found.append(Reading(word[:-3] + "y", PLURAL))
    if word.endswith("s") and not word.endswith("ss") and len(word) > 3:
        found.append(Reading(word[:-1], PLURAL))
    if word.endswith("es") and len(word) > 4:
        found.append(Reading(word[:-2], PLURAL))
    if word.endswith("ied") and len(word) > 4:
        found.append(Reading(word[:-3] + "y", PAST))
    for ending in (PAST, GERUND):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) > 2:
            found += [Reading(stem, ending), Reading(stem + "e", ending)]
            if stem[-1] == stem[-2]:
                found.append(Reading(stem[:-1], ending))
    return found


def inflected(phrase: str, ending: str) -> str:
    """A phrase with an ending: the plural's at its last word, a verb's at its first. `take over` is `taked over`."""
    if ending == PLURAL:
        head, space, last = phrase.rpartition(" ")
        return head + space + _plural(last)
    if ending in (PAST, GERUND):
        first, space, tail = phrase.partition(" ")
        return (_past(first) if ending == PAST else _gerund(first)) + space + tail
    return phrase


def _plural(word: str) -> str:
    if word.endswith("y") and word[-2:-1] not in _VOWELS:
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "z", "ch", "sh")) else "s")


def _past(word: str) -> str:
    if word.endswith("y") and word[-2:-1] not in _VOWELS:
        return word[:-1] + "ied"
    return word + ("d" if word.endswith("e") else "ed")


def _gerund(word: str) -> str:
    return (word[:-1] if word.endswith("e") and not word.endswith("ee") else word) + "ing"


@cache
def _irregular() -> dict[str, list[Reading]]:
    """Each line of the file: a lemma, a colon, its irregular pasts and participles; or a noun, `+`, its plural."""
    found: dict[str, list[Reading]] = {}
    for line in _IRREGULAR.read_text("utf-8").splitlines():
        lemma, mark, forms = line.replace("+", ":+").partition(":")
        ending = PLURAL if forms.startswith("+") else PAST
        for form in forms.lstrip("+").split() if mark else ():
            found.setdefault(form, []).append(Reading(lemma.strip(), ending))
    return found
