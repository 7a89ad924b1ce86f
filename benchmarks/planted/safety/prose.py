"""Running text in sixteen languages: sentences of three clauses, none of which says anything of a person."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random

import yaml

UNSPACED = ("ja", "zh")


@cache
def _clauses() -> dict[str, list[list[str]]]:
    values: dict[str, list[list[str]]] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))
    return values


def paragraph(language: str, sentences: int, random: Random) -> str:
    """Sentences of one language that differ from each other."""
    glue = "" if language in UNSPACED else " "
    drawn = zip(*(random.sample(part, sentences) for part in _clauses()[language]), strict=True)
    return glue.join(glue.join(clauses) for clauses in drawn)


def words(random: Random, count: int) -> list[str]:
    """Names that can be of a host, a path or a made-up person."""
    heads = "al ber cor dan el fen gar hol ist jor kas lin mar nor ost pel quin ros sten tor ul ver wes yar zin".split()
    tails = "bach by dale der feld gard holm ik land mont nes ova rick son stad ton vik wood zen".split()
    return [random.choice(heads) + random.choice("aeiou") + random.choice(tails) for _ in range(count)]
