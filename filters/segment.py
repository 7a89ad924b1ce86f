"""Words of scripts that put no spaces between them: found by ICU, by script, whatever the language is said to be."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from obelics_pipeline.filters import statistics
from obelics_pipeline.filters.characters import bitmap

# Han, Hiragana, Katakana, Thai, Lao, Tibetan, Myanmar, Khmer: the blocks, with their extensions; first and last.
_BLOCKS = (
    (0x0E00, 0x0EFF), (0x0F00, 0x0FFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x2E80, 0x2FDF), (0x3005, 0x3007),
    (0x3040, 0x30FF), (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xA9E0, 0xA9FF), (0xAA60, 0xAA7F),
    (0xF900, 0xFAFF), (0xFF66, 0xFF9F), (0x20000, 0x3FFFF),
)  # fmt: skip
_UNSPACED = bitmap(chain.from_iterable(range(first, last + 1) for first, last in _BLOCKS))
_SURROGATE = re.compile("[\ud800-\udfff]")


def is_unspaced(text: str) -> bool:
    """Whether the text has a letter of a script that is written without spaces."""
    return not text.isascii() and statistics.count_characters(_UNSPACED, text) > 0


def segmented(words: list[str]) -> list[str]:
    """The words, with each one that holds an unspaced script cut into its own words; what has no letter is left out."""
    found: list[str] = []
    for word in words:
        if is_unspaced(word):
            found.extend(part for part, _ in cut(word))
        else:
            found.append(word)
    return found


def cut(word: str) -> Iterator[tuple[str, int]]:
    """The words of a word that holds an unspaced script, each with where it begins."""
    from icu4py.breakers import WordBreaker  # 60 ms and 40 MB of libraries: only where such a script occurs

    safe = _SURROGATE.sub("\ufffd", word)  # ICU takes UTF-16 and a lone surrogate has none
    begin = 0
    for part in WordBreaker(safe, "en"):
        if any(map(str.isalpha, part)):
            yield part, begin
        begin += len(part)
