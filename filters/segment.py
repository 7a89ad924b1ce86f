"""Words of scripts that put no spaces between them: found by ICU, by script, whatever the language is said to be."""

from __future__ import annotations

import re

# Han, Hiragana, Katakana, Thai, Lao, Tibetan, Myanmar, Khmer: the blocks, with their extensions.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua9e0-\ua9ff\uaa60-\uaa7f\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")


def is_unspaced(text: str) -> bool:
    """Whether the text has a letter of a script that is written without spaces."""
    return not text.isascii() and _UNSPACED.search(text) is not None


def segmented(words: list[str]) -> list[str]:
    """The words, with each one that holds an unspaced script cut into its own words; what has no letter is left out."""
    found: list[str] = []
    for word in words:
        if is_unspaced(word):
            found.extend(_cut(word))
        else:
            found.append(word)
    return found


def _cut(word: str) -> list[str]:
    from icu4py.breakers import WordBreaker  # 60 ms and 40 MB of libraries: only where such a script occurs

    safe = _SURROGATE.sub("\ufffd", word)  # ICU takes UTF-16 and a lone surrogate has none
    return [part for part in WordBreaker(safe, "en") if any(map(str.isalpha, part))]
