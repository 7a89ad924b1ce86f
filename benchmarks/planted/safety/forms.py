"""Values from forms: `#` is a digit, `^` one that is not 0, and what is in braces a blank to be filled.

{1-20} a number, at least as wide as its lower end, {a|b} one of these, {hex:40} {letters:4} {signs:3} so many of these,
{word} a made-up name, {isbn13} {isbn10} {ean} {colour} such a thing.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import yaml

from benchmarks.planted.safety.prose import words

_BLANK = re.compile(r"\{([^}]*)\}|[#^]")
_SIGNS = {"hex": "0123456789abcdef", "letters": "ABCDEFGHJKLMNPRSTVWXYZ", "signs": "0123456789ABCDEFGHJKLMNPRSTVWXYZ"}


@cache
def data(name: str) -> dict[str, Any]:
    """A file of data that lies here."""
    values: dict[str, Any] = yaml.safe_load((Path(__file__).parent / f"{name}.yaml").read_text("utf-8"))
    return values


def text(form: str, random: Random) -> str:
    """A form with its blanks filled."""

    def fill(match: re.Match[str]) -> str:
        if match[1] is not None:
            return _filled(match[1], random)
        return random.choice("0123456789" if match[0] == "#" else "123456789")

    return _BLANK.sub(fill, form)


def _filled(blank: str, random: Random) -> str:
    if blank == "word":
        return words(random, 1)[0]
    if blank == "colour":
        return "#" + text("{hex:6}", random)
    if blank == "ean":
        return _ean(text("4012########", random))
    if blank == "isbn13":
        body = _ean(text("{978|979}{0-3}########", random))
        return random.choice((body, f"{body[:3]}-{body[3]}-{body[4:8]}-{body[8:12]}-{body[12]}"))
    if blank == "isbn10":
        body = text("3########", random)
        check = -sum(int(d) * (10 - n) for n, d in enumerate(body)) % 11
        return f"{body[0]}-{body[1:5]}-{body[5:]}-{'X' if check == 10 else check}"
    sort, _, count = blank.partition(":")
    if sort in _SIGNS:
        return "".join(random.choices(_SIGNS[sort], k=int(count)))
    if found := re.fullmatch(r"(\d+)-(\d+)", blank):
        return f"{random.randint(int(found[1]), int(found[2])):0{len(found[1])}}"
    return random.choice(blank.split("|"))


def luhn(body: str) -> str:
    """Luhn's check digit (ISO/IEC 7812)."""
    return str(-sum(sum(divmod(int(d) * (2 - n % 2), 10)) for n, d in enumerate(reversed(body))) % 10)


def _ean(body: str) -> str:
    return body + str(-sum(int(d) * (1 + 2 * (n % 2)) for n, d in enumerate(body)) % 10)
