"""Pages copied with some words exchanged for others that a dictionary gives for the same foreign word."""

import gzip
import re
from collections import defaultdict
from pathlib import Path
from random import Random

RATES = (0.4, 0.6, 0.8)  # of the words that have another
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_ASIDE = re.compile(r"<.*?>|\[.*?\]|\(.*?\)|/.*?/|\d+\.")
_ONE_WORD = re.compile(r"[^\W\d_]{3,}")


def others(index: Path) -> dict[str, list[str]]:
    """Words that translate the same word of a dictionary of dictd into their language: NAME.index, NAME.dict.dz."""
    articles = gzip.decompress(index.with_suffix(".dict.dz").read_bytes())
    found: dict[str, set[str]] = defaultdict(set)
    for entry in index.read_text("utf-8").splitlines():
        _, start, size = entry.split("\t")[:3]
        at = _place(start)
        _, _, meanings = articles[at : at + _place(size)].decode("utf-8", "replace").partition("\n")
        words = [word.strip() for word in re.split(r"[,;\n]", _ASIDE.sub("", meanings))]
        same = {word for word in words if _ONE_WORD.fullmatch(word)}
        for word in same:
            found[word] |= same - {word}
    return {word: sorted(same) for word, same in found.items() if same}


def spun(text: str, same: dict[str, list[str]], random: Random) -> str:
    """A text of which a share of the words that have others is exchanged; their endings are not looked at."""
    rate = random.choice(RATES)

    def exchanged(match: re.Match[str]) -> str:
        word = match[0]
        choices = same.get(word) or same.get(word.lower(), [])
        if not choices or random.random() > rate:
            return word
        other = random.choice(choices)
        return other[0].upper() + other[1:] if word[0].isupper() else other

    return _ONE_WORD.sub(exchanged, text)


def _place(letters: str) -> int:
    place = 0
    for letter in letters:
        place = place << 6 | _ALPHABET.index(letter)
    return place
