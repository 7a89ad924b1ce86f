"""What a character is to the comparison of texts: part of a word, a word by itself, or nothing."""

from __future__ import annotations

import unicodedata
from array import array
from functools import lru_cache

# Kinds, in the eight bits above the code point that a character is compared as.
SEPARATOR, WORD, ALONE, MARK, SKIPPED = range(5)
KIND_SHIFT = 24
TABLE_SIZE = 0x20000  # code points with an entry; beyond are two planes of ideographs, then nothing that counts
IDEOGRAPHS = 0x40000  # where the ideographs beyond the table end

# Scripts without spaces: Thai, Lao, Tibetan, Myanmar, Khmer, Han with its radicals, Kana; first and last code point.
# Their characters are words by themselves: dictionaries that cut them differ between versions, and keys must not.
_UNSPACED = (
    (0x0E00, 0x0EFF), (0x0F00, 0x0FFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x19E0, 0x19FF), (0x2E80, 0x2FDF),
    (0x3005, 0x3007), (0x3040, 0x30FF), (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xA9E0, 0xA9FF),
    (0xAA60, 0xAA7F), (0xF900, 0xFAFF), (0x1AFF0, 0x1B16F),
)  # fmt: skip


@lru_cache(maxsize=1)
def table() -> bytes:
    """Kind and folded code point of each character below TABLE_SIZE, as 32-bit numbers in the machine's byte order."""
    return array("I", map(entry, range(TABLE_SIZE))).tobytes()  # 0.2 s, once in a process


def entry(code_point: int) -> int:
    """Kind and folded code point of one character.

    A character is folded to what is left of its compatibility decomposition without accents (Å to A, Ａ to A), and to
    lower case, each where that is one character. So texts need not be normalised first, which takes quadratic time for
    a long row of accents. Marks that are no accents stay, for in many scripts they are the vowels, and belong to what
    is before them. Accents and characters without width (soft hyphens, joiners) are skipped. Any other character
    that is no letter, digit or mark separates words.
    """
    character = chr(code_point)
    if unicodedata.decomposition(character):
        bare = "".join(c for c in unicodedata.normalize("NFKD", character) if not unicodedata.combining(c))
        character = bare if len(bare) == 1 else character
    lower = character.lower()
    character = lower if len(lower) == 1 else character
    return _kind(character) << KIND_SHIFT | ord(character)


def _kind(character: str) -> int:
    category = unicodedata.category(character)
    if category == "Cf" or unicodedata.combining(character):
        return SKIPPED
    if category[0] == "M":
        return MARK
    if category[0] not in "LN":
        return SEPARATOR
    return ALONE if any(first <= ord(character) <= last for first, last in _UNSPACED) else WORD
