"""What pages say in a language: templates, menus and notices, and the words that carry its grammar."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent / "wording"
_ENGLISH = "en"


@dataclass(frozen=True, slots=True)
class Wording:
    """Lines with blanks, {key} or {city}, and with [one|another] way to say the same."""

    titles: list[str]
    openings: list[str]
    bodies: list[str]
    endings: list[str]
    cities: list[str]
    menu: list[str]
    notices: list[str]
    bylines: list[str]
    best: str  # an adjective of praise that may stand before a noun
    read_more: str
    function_words: frozenset[str]  # of grammar rather than of meaning: spinners leave them alone

    @classmethod
    def of(cls, language: str) -> Wording:
        """Of a language that has a file of its own; of another one, English, as many farms are everywhere."""
        file = _FOLDER / f"{language}.txt"
        return _read(file if file.is_file() else _FOLDER / f"{_ENGLISH}.txt")


@cache
def _read(file: Path) -> Wording:
    """Sections of lines, each below its name after a `#`."""
    said: dict[str, list[str]] = {}
    for line in filter(None, file.read_text("utf-8").split("\n")):
        if line.startswith("# "):
            section = said[line[2:].replace(" ", "_")] = []
        else:
            section.append(line)
    (best,), (read_more,), grammar = said.pop("best"), said.pop("read_more"), said.pop("function_words")
    return Wording(best=best, read_more=read_more, function_words=frozenset(" ".join(grammar).split()), **said)
