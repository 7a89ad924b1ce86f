"""Bilingual dictionaries in dictd's format, as freedict.org publishes them."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from obelics_pipeline.core.errors import UserError

_DIGITS = {c: n for n, c in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")}
_SENSES = 6  # translations of a word that are read
_IN_BRACKETS = re.compile(r"<[^>]*>|\[[^\]]*\]|\([^)]*\)|\{[^}]*\}|^\d+\.\s*")
_NO_TRANSLATION = ('"', "Synonym", "see:", "Note", "-", "/")  # how lines begin that say something else
_TRANSLATION = re.compile(r"[^\W\d_][\w'’\-]*(?: [\w'’\-]+){0,2}")


@dataclass(frozen=True, slots=True)
class Dictionary:
    """Translations by lower-cased word."""

    entries: dict[str, list[str]]

    @classmethod
    def load(cls, index: Path) -> Dictionary:
        """Read `NAME.index` and, beside it, `NAME.dict.dz`. Raises `UserError` where they are no dictionary."""
        try:
            with gzip.open(index.with_suffix(".dict.dz")) as file:
                articles = file.read()
            entries = dict(_entries(index.read_text("utf-8"), articles))
        except (OSError, EOFError, zlib.error, ValueError, KeyError) as error:
            raise UserError(f"dictionary {index}: not dictd's .index with its .dict.dz beside it ({error})") from None
        return cls(entries)

    def turned_round(self) -> Dictionary:
        """The words of the other language, each with what it translates."""
        found: dict[str, list[str]] = {}
        for word, translations in self.entries.items():
            for translation in translations:
                found.setdefault(translation.lower(), []).append(word)
        return Dictionary(found)

    def of(self, word: str) -> list[str]:
        """Translations of a lower-cased word, the most usual first."""
        return self.entries.get(word, [])


def _entries(index: str, articles: bytes) -> Iterator[tuple[str, list[str]]]:
    for line in index.splitlines():
        word, begin, length = line.split("\t")[:3]
        if " " in word or word.startswith("00"):  # 00databaseinfo and the like
            continue
        place = _number(begin)
        article = articles[place : place + _number(length)].decode("utf-8", "replace")
        if found := _translations(article):
            yield word.lower(), found


def _number(digits: str) -> int:
    number = 0
    for digit in digits:
        number = 64 * number + _DIGITS[digit]
    return number


def _translations(article: str) -> list[str]:
    """What an article gives after its head line."""
    found: list[str] = []
    for line in article.split("\n")[1:]:
        if line.strip().startswith(_NO_TRANSLATION):
            continue
        parts = (part.strip() for part in re.split("[,;]", _IN_BRACKETS.sub("", line.strip())))
        found += [part for part in parts if _TRANSLATION.fullmatch(part)]
    return found[:_SENSES]
