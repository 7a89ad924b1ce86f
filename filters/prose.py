"""The prose of a text: what a model of sentences can judge, without lists of names, tables and code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from obelics_pipeline.core.document import PARAGRAPH_SEPARATOR
from obelics_pipeline.filters.spans import Span
from obelics_pipeline.filters.text import Text

_SENTENCE_ENDS = tuple(".!?…。！？")
_CLOSERS = "\"'”’»)]"
# Shops, awards and front pages have each name of a list in a paragraph of its own. A title, a byline and a caption may
# stand together; a fourth such paragraph makes a list. What has more words is no name: it is read, whatever it ends as.
_LIST = 4  # paragraphs in a row
_NAME = 20  # words, which a name has fewer of


@dataclass(frozen=True, slots=True)
class Prose:
    """The prose of a text, its parts joined by a blank line, and where each stands in that text."""

    text: str
    parts: tuple[Span, ...]

    @classmethod
    def of(cls, text: Text) -> Prose:
        """All of a text that is no document's. Of a document's: no table, no code, no list of mere names.

        Its paragraphs tell, for those who score published rows have no roles.
        """
        if text.document is None:
            return cls(text.text, ((0, len(text.text)),))
        found, begin = list[Span](), 0
        for paragraph in text.text.split(PARAGRAPH_SEPARATOR):
            end = begin + len(paragraph)
            if is_prose(paragraph):
                found.append((begin, end))
            begin = end + len(PARAGRAPH_SEPARATOR)
        parts = tuple(_without_lists(text.text, found))
        return cls(PARAGRAPH_SEPARATOR.join(text.text[begin:end] for begin, end in parts), parts)

    def in_whole(self, spans: Iterable[Span]) -> Iterator[Span]:
        """Ranges of characters of the prose, which rise and lie apart, as ranges of the text that it is of."""
        left, begin = iter(self.parts), 0
        part = next(left, None)
        for first, last in spans:
            while part is not None and begin < last:
                length = part[1] - part[0]
                if first < begin + length:
                    yield part[0] + max(first - begin, 0), part[0] + min(last - begin, length)
                if last <= begin + length:
                    break
                begin += length + len(PARAGRAPH_SEPARATOR)
                part = next(left, None)


def is_prose(paragraph: str) -> bool:
    """Whether it is a single line without cells, or half of its lines end as sentences do."""
    lines = [line for line in paragraph.split("\n") if line.strip()] if "\n" in paragraph else []
    if len(lines) < 2:
        return "\t" not in paragraph
    return 2 * sum(map(ends_sentence, lines)) >= len(lines)


def is_name(paragraph: str) -> bool:
    """Whether it may be an entry of a list: few words, whose end is not that of a sentence."""
    return paragraph.count(" ") < _NAME - 1 and not ends_sentence(paragraph)


def ends_sentence(text: str) -> bool:
    """Whether the last of a text, but white space, quotation marks and brackets, is the end of a sentence."""
    return text.rstrip().rstrip(_CLOSERS).endswith(_SENTENCE_ENDS)


def _without_lists(text: str, paragraphs: Iterable[Span]) -> Iterator[Span]:
    """The paragraphs of a text without those that are `_LIST` or more names in a row."""
    for names, some in groupby(paragraphs, lambda span: is_name(text[span[0] : span[1]])):
        in_a_row = list(some)
        if not names or len(in_a_row) < _LIST:
            yield from in_a_row
