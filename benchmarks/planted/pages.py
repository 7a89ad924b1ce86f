"""Bad pages of many kinds: what a crawl has and no model should read."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence

import numpy as np

Draw = np.random.Generator
Make = Callable[[Draw, str], str]

_FINNISH = (
    "kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan oikeuksiltaan heille on annettu järki omatunto heidän "
    "toimittava toisiaan kohtaan veljeyden hengessä jokainen oikeutettu kuulumaan ilman minkäänlaista rotuun väriin "
    "sukupuoleen kieleen uskontoon poliittiseen muuhun mielipiteeseen omaisuuteen syntyperään tekijään perustuvaa "
    "erotusta yksilöllä elämään vapauteen henkilökohtaiseen turvallisuuteen ketään saa pitää orjana orjuus kielletty"
).split()
_MENU = (
    "Home", "About us", "Contact", "Privacy policy", "Terms of use", "Accept all cookies", "Log in", "Sign up", "Next",
    "Previous", "Share on Facebook", "Tweet", "Subscribe to our newsletter", "Read more", "All rights reserved", "Menu",
)  # fmt: skip
_FARM = (
    "Are you looking for the best {0}? Then you have come to the right place for {0}.",
    "In this ultimate guide to {0} you will learn everything about {0} and {1}.",
    "Many people ask what {0} is. {0} is one of the best ways to get {1} fast.",
    "Buy cheap {0} online today: our {0} experts compare {1} prices for you.",
    "To sum up, {0} is a great choice for anyone who wants {1}.",
)
_CODE = ("function", "(", ")", "{", "}", "var", "return", "=>", "&&", "||", "this", "null", ";", "===", "0x", "e", "t")


def _bytes(draw: Draw, _: str) -> str:
    return bytes(draw.integers(0, 256, 8000, np.uint8)).decode("latin-1")


def _one_word(draw: Draw, text: str) -> str:
    return f"{_words(draw, text, 1)[0]} " * 4000


def _few_words(draw: Draw, text: str) -> str:
    return f"{' '.join(_words(draw, text, int(draw.integers(2, 6))))} " * 1500


def _base64(draw: Draw, _: str) -> str:
    return base64.b64encode(bytes(draw.integers(0, 256, 9000, np.uint8))).decode()


def _language(draw: Draw, _: str) -> str:
    return " ".join(draw.choice(_FINNISH, 3000))


def _shuffled(draw: Draw, text: str) -> str:
    return " ".join(draw.permutation(text.split()))


def _salad(draw: Draw, text: str) -> str:
    return " ".join(_words(draw, text, 4000))


def _boilerplate(draw: Draw, _: str) -> str:
    return " | ".join(draw.choice(_MENU, 2000))


def _farm(draw: Draw, text: str) -> str:
    about = [" ".join(_words(draw, text, 2)) for _ in range(2)]
    return " ".join(str(draw.choice(_FARM)).format(*about) for _ in range(300))


def _escapes(draw: Draw, text: str) -> str:
    return "".join(str(draw.choice([f"\\u{ord(c):04x}", f"&#{ord(c)};", f"%{ord(c) % 256:02X}"])) for c in text[:2000])


def _numbers(draw: Draw, _: str) -> str:
    return " ".join(f"{x:.2f}" for x in draw.lognormal(4, 2, 3000))


def _code(draw: Draw, _: str) -> str:
    return "".join(draw.choice(_CODE, 6000))


def _file_names(draw: Draw, _: str) -> str:
    return " ".join(f"IMG_{n:04d}.JPG {w}x{w * 3 // 4}" for n, w in draw.integers(100, 9999, (1500, 2)))


def _words(draw: Draw, text: str, count: int) -> Sequence[str]:
    found: Sequence[str] = draw.choice(text.split(), count).tolist()
    return found


KINDS: dict[str, Make] = {
    "bytes": _bytes,
    "one word": _one_word,
    "few words": _few_words,
    "base64": _base64,
    "other language": _language,
    "shuffled words": _shuffled,
    "word salad": _salad,
    "boilerplate": _boilerplate,
    "content farm": _farm,
    "escapes": _escapes,
    "numbers": _numbers,
    "code": _code,
    "file names": _file_names,
}
"""Each makes a text, of an ordinary page's; it is cut to the length that is asked for."""
