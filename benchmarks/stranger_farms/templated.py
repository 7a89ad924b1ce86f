"""Doorway pages: the same sentences for each trade in each town, in an order of their own."""

import tomllib
from pathlib import Path
from random import Random

_WORDS = Path(__file__).with_name("templated.toml")


def templated(language: str, words: int, random: Random) -> str:
    """A page about a trade in a town, of about so many words."""
    said = tomllib.loads(_WORDS.read_text("utf-8"))[language]
    trade, (town, near, far) = random.choice(said["trades"]), random.sample(said["towns"], 3)
    page = [f"{trade} {town}"]
    left: list[str] = []
    while sum(len(line.split()) for line in page) < words:
        left = left or random.sample(said["sentences"], len(said["sentences"]))
        some = [left.pop() for _ in range(min(len(left), random.randint(1, 4)))]
        page.append(" ".join(line.format(x=trade, a=town, b=near, c=far, n=random.randint(2, 60)) for line in some))
    return "\n\n".join(page)
