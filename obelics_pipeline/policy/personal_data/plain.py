"""Digits and marks of other scripts as ASCII ones, character by character, so that places in a text stay the same."""

from __future__ import annotations

import unicodedata
from functools import cache

_MARKS = dict(
    zip(
        "＋－（）．／＠，　\u00a0\u2007\u2009\u202f\u2010\u2011\u2012\u2013\u2014\u2212\u30fc\uff70",
        "+-()./@,     --------",
        strict=True,
    )
)
_ASCII = bytes(range(128))
LETTERS = 26


@cache
def _table() -> dict[str, str]:
    digits = {
        chr(code): str(unicodedata.decimal(chr(code)))
        for code in range(0x80, 0x20000)
        if unicodedata.category(chr(code)) == "Nd"
    }
    capitals = {chr(0xFF21 + n): chr(0x41 + n) for n in range(LETTERS)}
    small = {chr(0xFF41 + n): chr(0x61 + n) for n in range(LETTERS)}
    return digits | _MARKS | capitals | small


def plain(text: str) -> str:
    """The text in as many characters, its digits in ASCII, and so the marks that stand in numbers and addresses."""
    if text.isascii():
        return text
    # What is not ASCII is little, mostly: it alone is looked at (a loop over all of a text takes a millisecond).
    table, others = _table(), text.encode("utf-8", "replace").translate(None, _ASCII).decode("utf-8", "replace")
    for character in table.keys() & set(others):  # in any order: no mark is a key
        text = text.replace(character, table[character])
    return text


def flat(text: str) -> bytes:
    """A byte for each character of a text, ? for a character that is not ASCII. Searching bytes is fast."""
    return text.encode("ascii", "replace")
