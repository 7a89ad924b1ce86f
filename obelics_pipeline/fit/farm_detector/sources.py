"""What documents are made of: texts that people wrote, and words to put in place of theirs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import file_sha256
from obelics_pipeline.fit.farm_detector.dictionary import Dictionary
from obelics_pipeline.fit.farm_detector.families import WEIGHTS, Families
from obelics_pipeline.fit.farm_detector.texts import Texts, read_texts
from obelics_pipeline.fit.farm_detector.thesaurus import Thesaurus
from obelics_pipeline.fit.farm_detector.translating import Translator
from obelics_pipeline.fit.farm_detector.trusted import TrustedTexts
from obelics_pipeline.fit.say import Say
from obelics_pipeline.fit.texts import TextFile, text_files

_FEWEST = 8  # texts of each part: below, there is nothing to splice and shuffle


@dataclass(frozen=True)
class Sources:
    """What a person names. `unusual`: texts of genres that must not be taken for generated."""

    trusted: Sequence[str]
    unusual: Sequence[str] = ()
    thesaurus: Path | None = None
    dictionaries: Sequence[tuple[Path, Path]] = ()  # pairs of indexes, there and back
    leave_out: Sequence[str] = ()  # families
    language: str = "en"

    def load(self, say: Say) -> Material:
        """Read all of it. Raises UserError, in one line, for a file that cannot be read."""
        files, genres = text_files(self.trusted), text_files(self.unusual)
        texts, unusual = read_texts(files), read_texts(genres)
        for file in (*files, *genres):
            say(str(file))
        words = Thesaurus.load(self.thesaurus) if self.thesaurus else Thesaurus.of_texts(texts.network)
        translators = [Translator(Dictionary.load(there), Dictionary.load(back)) for there, back in self.dictionaries]
        return Material(self, files, genres, texts, unusual, words, translators)

    def word_lists(self) -> list[Path]:
        """The files that words are taken from."""
        indexes = [index for pair in self.dictionaries for index in pair]
        articles = [index.with_suffix(".dict.dz") for index in indexes]
        return [*([self.thesaurus] if self.thesaurus else []), *indexes, *articles]


@dataclass(frozen=True)
class Material:
    """What was read of the sources."""

    sources: Sources
    files: Sequence[TextFile]
    genres: Sequence[TextFile]
    texts: Texts
    unusual: Texts
    words: Thesaurus
    translators: Sequence[Translator]

    def families(self) -> Families:
        """Of all texts. Raises UserError where they are too few, or a family to leave out is unknown."""
        made = self._families(
            [*self.texts.network, *self.texts.forest],
            [*self.unusual.network, *self.unusual.forest],
            self.sources.leave_out,
        )
        self._enough(len(self.texts.network) + len(self.texts.forest), _FEWEST)
        return made

    def parted_families(self) -> tuple[Families, Families]:
        """Of the texts for the network, and of those for the forest. Raises UserError as `families` does."""
        made = (
            self._families(self.texts.network, self.unusual.network, self.sources.leave_out),
            self._families(self.texts.forest, self.unusual.forest, self.sources.leave_out),
        )
        self._enough(min(len(self.texts.network), len(self.texts.forest)), 5 * _FEWEST)
        return made

    def left_out(self) -> Families | None:
        """Those that are left out, of the texts for the forest; None where none of them can be made."""
        others = [name for name in self.sources.leave_out if self.translators or name != "translating"]
        rest = [name for name in WEIGHTS if name not in others]
        return self._families(self.texts.forest, self.unusual.forest, rest) if others else None

    def description(self) -> dict[str, Any]:
        """What was read, for the record of what is made of it: names, sha256 and counts, and no folder or time."""
        return {
            "families": [family for family in WEIGHTS if family not in self.sources.leave_out],
            "trusted": [file.description() for file in self.files],
            "unusual": [file.description() for file in self.genres],
            "words": {path.name: file_sha256(path) for path in self.sources.word_lists()},
        }

    def _families(self, texts: Sequence[str], unusual: Sequence[str], leave_out: Sequence[str]) -> Families:
        genres = TrustedTexts(unusual, self.sources.language) if unusual else None
        return Families(TrustedTexts(texts, self.sources.language), genres, self.words, self.translators, leave_out)

    def _enough(self, fewest: int, give: int) -> None:
        if fewest < _FEWEST:
            there = len(self.texts.network) + len(self.texts.forest)
            raise UserError(f"{there} trusted texts are too few to make others of: give {give} or more")
