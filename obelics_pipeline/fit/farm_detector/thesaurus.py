"""Words that a careless program takes for one another."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.fit.farm_detector.marked_text import FUNCTION_WORDS, WORD

_LOOSER = ("generic", "similar", "related")  # what MyThes says in brackets of a word that is no synonym


class Substitute(NamedTuple):
    """A word or phrase that may be put in another one's place."""

    text: str
    sense: int  # of the word that is replaced; 0 is its most usual one
    synonym: bool  # else it is a wider, similar or related word


@dataclass(frozen=True, slots=True)
class Thesaurus:
    """Substitutes by lower-cased word, each with the part of speech that it is of (`noun`, `verb`, `adj`, `adv`)."""

    entries: dict[str, list[tuple[str, Substitute]]]

    @classmethod
    def load(cls, path: Path) -> Thesaurus:
        """Read a MyThes file (`th_en_US_v2.dat` of LibreOffice). Raises `UserError` for any other file.

        The name of the encoding, then a line with a word and the number of its senses, and a line for each: its part
        of speech and words, between bars.
        """
        try:
            encoding, _, content = path.read_bytes().removeprefix(BOM_UTF8).partition(b"\n")
            lines = iter(content.decode(encoding.decode("ascii").strip()).splitlines())
            entries = {}
            for head in lines:
                word, _, senses = head.partition("|")
                substitutes = [found for sense in range(int(senses)) for found in _of_sense(next(lines), sense)]
                if " " not in word:
                    entries[word.lower()] = substitutes
        except (OSError, LookupError, ValueError, StopIteration, RuntimeError) as error:
            raise UserError(f"thesaurus {path}: not a MyThes file, as LibreOffice has them ({error})") from None
        return cls(entries)

    @classmethod
    def of_texts(cls, texts: Iterable[str]) -> Thesaurus:
        """Words that stand between the same neighbours, for want of a real one."""
        between: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
        for text in texts:
            words = WORD.findall(text.lower())
            for left, word, right in zip(words, words[1:], words[2:], strict=False):
                if word not in FUNCTION_WORDS:
                    between[left, right][word] = None
        entries: dict[str, list[tuple[str, Substitute]]] = defaultdict(list)
        for together in between.values():
            for word in together if len(together) > 1 else ():
                entries[word] += [("", Substitute(other, 0, True)) for other in together if other != word]
        return cls(dict(entries))

    def of(self, lemma: str) -> Sequence[tuple[str, Substitute]]:
        """Part of speech and substitute, of a lower-cased word."""
        return self.entries.get(lemma, ())


def _of_sense(line: str, sense: int) -> list[tuple[str, Substitute]]:
    speech, *words = line.split("|")
    found = []
    for word in words:
        text, bracket, said = word.rpartition(" (")
        if not bracket:
            found.append((speech.strip("()"), Substitute(word, sense, synonym=True)))
        elif said.startswith(_LOOSER):
            found.append((speech.strip("()"), Substitute(text, sense, synonym=False)))
    return found
