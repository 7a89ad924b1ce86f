"""Digits and marks of other scripts as ASCII ones, character by character, so that places in a text stay the same."""

from __future__ import annotations

import unicodedata
from functools import cache

_MARKS = str.maketrans(
    "＋－（）．／：＠，　\u00a0\u2007\u2009\u202f\u2010\u2011\u2012\u2013\u2014\u2212\u30fc\uff70",
    "+-()./:@,     -------" + "-",
)
_LETTERS = str.maketrans({0xFF21 + i: 0x41 + i for i in range(26)} | {0xFF41 + i: 0x61 + i for i in range(26)})


@cache
def _table() -> dict[int, int]:
    digits = {
        code: ord("0") + unicodedata.decimal(chr(code))
        for code in range(0x80, 0x20000)
        if unicodedata.category(chr(code)) == "Nd"
    }
    return digits | _MARKS | _LETTERS


def plain(text: str) -> str:
    """The text in as many characters, its digits in ASCII, and so the marks that stand in numbers and addresses."""
    return text if text.isascii() else text.translate(_table())
