"""What documents are made of: texts that people wrote, and words to put in place of theirs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import file_sha256
from obelics_pipeline.fit.farm_detector.dictionary import Dictionary
from obelics_pipeline.fit.farm_detector.families import WEIGHTS, Families, Words, without_groups
from obelics_pipeline.fit.farm_detector.second.wordnet import Wordnet
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
    dictionaries: Sequence[tuple[Path, Path]] = ()  # pairs of indexes, there and back, or twice that from elsewhere
    leave_out: Sequence[str] = ()  # families, or the name of an implementation
    wordnet: Path | None = None  # folder
    glossaries: Sequence[Path] = ()  # indexes, from other languages
    language: str = "en"

    def load(self, say: Say, learned_from: Collection[str] | None = None) -> Material:
        """Read all of it. Raises UserError, in one line, for a file that cannot be read.

        `learned_from`: the sha256 of the files of a network that is kept, as `read_texts` takes them.
        """
        files, genres = text_files(self.trusted), text_files(self.unusual)
        texts, unusual = read_texts(files, learned_from), read_texts(genres, learned_from)
        for file in (*files, *genres):
            say(str(file))
        words = Words(
            Thesaurus.load(self.thesaurus) if self.thesaurus else Thesaurus.of_texts(texts.network or texts.forest),
            [_translator(there, back) for there, back in self.dictionaries],
            Wordnet.load(self.wordnet) if self.wordnet else None,
            [Dictionary.load(index) for index in self.glossaries],
            self.language,
        )
        return Material(self, files, genres, texts, unusual, words)

    def word_lists(self) -> list[Path]:
        """The files that words are taken from."""
        indexes = [*(index for pair in self.dictionaries for index in pair), *self.glossaries]
        articles = [index.with_suffix(".dict.dz") for index in indexes]
        sets = [*sorted(self.wordnet.glob("data.*")), *sorted(self.wordnet.glob("index.*"))] if self.wordnet else []
        return [*([self.thesaurus] if self.thesaurus else []), *indexes, *articles, *sets]


def _translator(there: Path, back: Path) -> Translator:
    """By two dictionaries; by one that is given twice, read from both sides."""
    home = Dictionary.load(back)
    return Translator(home.turned_round() if there == back else Dictionary.load(there), home)


@dataclass(frozen=True)
class Material:
    """What was read of the sources."""

    sources: Sources
    files: Sequence[TextFile]
    genres: Sequence[TextFile]
    texts: Texts
    unusual: Texts
    words: Words

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

    def forest_families(self) -> Families:
        """Of the texts for the forest alone. Raises UserError as `families` does."""
        made = self._families(self.texts.forest, self.unusual.forest, self.sources.leave_out)
        self._enough(len(self.texts.forest), _FEWEST)
        return made

    def left_out(self) -> Families | None:
        """Those that are left out, of the texts for the forest; None where none of them can be made."""
        cannot = self.words.cannot()
        others = [name for name in without_groups(self.sources.leave_out) if name not in cannot]
        rest = [name for name in WEIGHTS if name not in others]
        return self._families(self.texts.forest, self.unusual.forest, rest) if others else None

    def description(self) -> dict[str, Any]:
        """What was read, for the record of what is made of it: names, sha256 and counts, and no folder or time."""
        return {
            "families": self._families_made(),
            "trusted": [file.description() for file in self.files],
            "unusual": [file.description() for file in self.genres],
            "words": {path.name: file_sha256(path) for path in self.sources.word_lists()},
        }

    def _families_made(self) -> list[str]:
        others = {*without_groups(self.sources.leave_out), *self.words.cannot()}
        return [family for family in WEIGHTS if family not in others]

    def _families(self, texts: Sequence[str], unusual: Sequence[str], leave_out: Sequence[str]) -> Families:
        genres = TrustedTexts(unusual, self.sources.language) if unusual else None
        return Families(TrustedTexts(texts, self.sources.language), genres, self.words, leave_out)

    def _enough(self, fewest: int, give: int) -> None:
        if fewest < _FEWEST:
            there = len(self.texts.network) + len(self.texts.forest)
            raise UserError(f"{there} trusted texts are too few to make others of: give {give} or more")
