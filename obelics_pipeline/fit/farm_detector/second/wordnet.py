"""WordNet's words that mean the same, and those that mean something wider."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from obelics_pipeline.core.errors import UserError

NOUN, VERB, ADJECTIVE, ADVERB = "n", "v", "a", "r"
_FILES = {NOUN: "noun", VERB: "verb", ADJECTIVE: "adj", ADVERB: "adv"}
_WIDER = "@"  # the pointer to a wider word


class Sense(NamedTuple):
    """What a word may mean."""

    speech: str  # `NOUN`, `VERB`, `ADJECTIVE` or `ADVERB`
    same: Sequence[str]  # other words for it
    wider: Sequence[str]


@dataclass(frozen=True, slots=True)
class Wordnet:
    """Senses by lower-cased word, of each part of speech the most usual first."""

    senses: dict[str, list[Sense]]

    @classmethod
    def load(cls, folder: Path) -> Wordnet:
        """Read `data.noun`, `index.noun` and their like (Debian: `wordnet-base`). Raises `UserError`."""
        senses: dict[str, list[Sense]] = defaultdict(list)
        try:
            for speech, name in _FILES.items():
                sets = dict(_sets((folder / f"data.{name}").read_text("utf-8").splitlines()))
                for word, places in _index((folder / f"index.{name}").read_text("utf-8").splitlines()):
                    for words, wider in (sets[place] for place in places):
                        others = [w for w in words if w.lower() != word]
                        above = sets[wider][0] if wider in sets else []
                        if others or above:
                            senses[word].append(Sense(speech, others, above))
        except (OSError, ValueError, KeyError, IndexError) as error:
            raise UserError(f"WordNet {folder}: no data.noun, index.noun and so on of WordNet 3 ({error})") from None
        return cls(dict(senses))

    def speeches(self, word: str) -> set[str]:
        """The parts of speech that a lower-cased word may be."""
        return {sense.speech for sense in self.senses.get(word, ())}


def _sets(lines: Sequence[str]) -> Iterator[tuple[str, tuple[list[str], str]]]:
    """By place in the file: words of a set, and the place of a wider one or ""."""
    for line in lines:
        if line.startswith(" "):  # the licence
            continue
        place, _, _, count, *rest = line.partition(" | ")[0].split()
        words = [word.partition("(")[0].replace("_", " ") for word in rest[: 2 * int(count, 16) : 2]]
        pointers = rest[2 * int(count, 16) + 1 :]
        wider = pointers[pointers.index(_WIDER) + 1] if _WIDER in pointers else ""
        yield place, (words, wider)


def _index(lines: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Each single word with the places of its sets."""
    for line in lines:
        if not line.startswith(" "):
            word, _, count, *rest = line.split()
            if "_" not in word:
                yield word, rest[-int(count) :]
