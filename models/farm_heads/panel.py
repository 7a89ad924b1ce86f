"""The heads that judge texts of one language, and how their log odds become one.

Honest texts reach high log odds by chance, the shorter they are the more often, and more so with one head than with
another. So each head is shifted by the length of a text: `obelics fit farm-heads` finds by how much.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from obelics_pipeline.models.farm_heads.kinds import KINDS, Kind, kind_of
from obelics_pipeline.models.forest import SCALE
from obelics_pipeline.models.told import Told
from obelics_pipeline.models.word_count import count_words

MIX = Path(__file__).parent / "mix.json"
FEWEST = 100  # words: of the texts that judge detectors, none has fewer
SETTLED = 5 * SCALE  # log odds of a head, above which no dearer one is asked: a score over 0.993


@dataclass(frozen=True, slots=True)
class Head:
    """A detector, and what is added to its log odds: (words, 1 / `SCALE`), rising; between these on straight lines."""

    kind: Kind
    path: str
    shifts: tuple[tuple[int, int], ...] = ()

    def log_odds(self, text: str, words: int) -> int | None:
        """That a program made a text of so many words; None for one of too few."""
        said: int | None = self.kind.load(self.path).log_odds(text)
        return None if said is None else said + self.shift(words)

    def shift(self, words: int) -> int:
        """What is added to the log odds of a text of so many words: that of the nearest beyond both ends."""
        last: tuple[int, int] | None = None
        for at, shift in self.shifts:
            if words <= at:
                if last is None:
                    return shift
                return last[1] + (shift - last[1]) * (words - last[0]) // (at - last[0])
            last = at, shift
        return 0 if last is None else last[1]

    def told(self, text: str) -> Told:
        """What made its log odds."""
        return self.kind.told(self.kind.load(self.path), text)


@dataclass(frozen=True, slots=True)
class Panel:
    """The heads of one language, the cheapest first."""

    heads: tuple[Head, ...]

    @classmethod
    def of(cls, language: str, paths: Iterable[str]) -> Panel:
        """Those of these files and, of kinds that they are not of, those that the package ships for the language.

        Only the latter are shifted. Raises UserError for a file that is no detector.
        """
        given = {kind_of(path).name: path for path in paths}
        found = []
        for kind in KINDS:
            if path := given.get(kind.name):
                found.append(Head(kind, path))
            elif shipped := kind.bundled().get(language):
                found.append(Head(kind, shipped, _shifts(language, kind)))
        return cls(tuple(found))

    def of_several_writers(self) -> Panel:
        """The heads that may judge what several persons wrote in turn."""
        return Panel(tuple(head for head in self.heads if not head.kind.one_writer))

    def judge(self, text: str) -> Iterator[tuple[Head, int]]:
        """The log odds of each head that has some of a text, up to the first that settles it.

        A text of fewer than `FEWEST` words meets none.
        """
        words = count_words(text)
        for head in self.heads if words >= FEWEST else ():
            said = head.log_odds(text, words)
            if said is not None:
                yield head, said
                if said >= SETTLED:
                    return

    def log_odds(self, text: str) -> int | None:
        """The highest of what the heads say; None where none says anything.

        A page is made in one way, and a head that looks for another has nothing to say against it.
        """
        return max((said for _, said in self.judge(text)), default=None)

    def worst(self, text: str) -> Head | None:
        """The head that says most; None where none says anything."""
        return max(self.judge(text), key=lambda one: one[1], default=(None, 0))[0]


def languages() -> set[str]:
    """Those that the package ships a head for."""
    return {language for kind in KINDS for language in kind.bundled()}


def stored_shifts(path: Path) -> dict[str, dict[str, list[tuple[int, float]]]]:
    """Those of a file of mixes, by language and kind: (words, natural log odds)."""
    stored: dict[str, dict[str, list[tuple[int, float]]]] = json.loads(path.read_text("utf-8"))["shifts"]
    return stored


@cache
def _shipped_shifts() -> dict[str, dict[str, list[tuple[int, float]]]]:
    return stored_shifts(MIX)


def _shifts(language: str, kind: Kind) -> tuple[tuple[int, int], ...]:
    stored = _shipped_shifts().get(language, {}).get(kind.name, [])
    return tuple((words, round(shift * SCALE)) for words, shift in stored)
