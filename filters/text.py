"""A text under measurement: cut into words once, whatever number of filters look at it."""

from __future__ import annotations

from collections.abc import Sequence

from obelics_pipeline.core.document import Document
from obelics_pipeline.filters import statistics
from obelics_pipeline.filters.segment import is_unspaced, segmented


class Text:
    """A paragraph, or the kept text of a document, with its words found once and kept.

    `language` is the code that word lists are chosen by. `segment` cuts scripts without spaces into words by ICU;
    without it words are the reference's, to which such a sentence is one word. `document` is set where the text is
    that of a document, and `paragraphs` where the text is those joined by line ends: no word goes beyond one of them,
    so its words are theirs.
    """

    __slots__ = ("_words", "document", "language", "paragraphs", "segment", "text")

    def __init__(
        self,
        text: str,
        language: str | None = None,
        *,
        segment: bool = False,
        document: Document | None = None,
        paragraphs: Sequence[Text] = (),
    ) -> None:
        self.text = text
        self.language = language
        self.segment = segment
        self.document = document
        self.paragraphs = paragraphs
        self._words: list[str] | None = None

    @property
    def words(self) -> list[str]:
        """The lower-cased words, in order; digits and punctuation alone are none."""
        if self._words is None:
            self._words = self._find_words()
        return self._words

    def _find_words(self) -> list[str]:
        if self.paragraphs:
            return [word for paragraph in self.paragraphs for word in paragraph.words]
        found = statistics.lowered_words(self.text)
        return segmented(found) if self.segment and is_unspaced(self.text) else found
