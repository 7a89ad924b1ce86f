"""An interleaved document as a language model reads it: token ids, where the images stand, which tokens are scored.

The form is that of OpenFlamingo's trainer (open_flamingo/train/data.py): `text<image>text<|endofchunk|><image>text
<|endofchunk|>`, no white space around the marks; here with the beginning-of-sequence token in front, so that the first
word has a loss too, and without the end-of-sequence token, behind which nothing is scored.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from obelics_pipeline.core.document import PARAGRAPH_SEPARATOR, Node, TextNode

IMAGE = "<image>"
END_OF_CHUNK = "<|endofchunk|>"

Piece = str | int  # a text, or the number of an image


class Given(str):
    """A text that is read and not learned: what a person asks, in front of the answer that is to be learned."""


@dataclass(frozen=True, slots=True)
class Marks:
    """Token ids of what is not text. `begin`: None if the tokenizer has no token to begin with."""

    begin: int | None
    image: int
    end_of_chunk: int


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """A laid out document of n tokens.

    `ids` int64 (n); `scored` bool (n), True where a token is text that has something before it; `images`, the number
    of the image behind each `<image>` mark, in order; `n_bytes` of the text in UTF-8.
    """

    ids: npt.NDArray[np.int64]
    scored: npt.NDArray[np.bool_]
    images: tuple[int, ...]
    n_bytes: int

    def targets(self) -> npt.NDArray[np.int64]:
        """Ids of the scored tokens, in order."""
        return self.ids[self.scored]


def pieces(nodes: Iterable[Node], numbers: Iterable[int | None]) -> list[Piece]:
    """The kept texts and images in page order; texts with no image between them are joined by a blank line.

    `numbers` has an entry for each kept image, in order: the number it goes by, or None where the image is not to be
    had; then the document reads as if it had never been there, as in training. So do images beyond the last entry.
    """
    out: list[Piece] = []
    paragraphs: list[str] = []

    def flush() -> None:
        if paragraphs:
            out.append(PARAGRAPH_SEPARATOR.join(paragraphs))
            paragraphs.clear()

    left = iter(numbers)
    for node in nodes:
        if node.reason is not None:
            continue
        if isinstance(node, TextNode):
            paragraphs.append(node.text)
        elif (number := next(left, None)) is not None:
            flush()
            out.append(number)
    flush()
    return out


def lay_out(
    parts: Sequence[Piece], encode: Callable[[str], Sequence[int]], marks: Marks, literals: Sequence[str]
) -> Layout:
    """Texts and images as one sequence. `encode` gives a text's tokens, without any that the tokenizer adds.

    `literals` are what the tokenizer would take for marks if a page wrote them; they are removed from the text.
    """
    ids: list[int] = [] if marks.begin is None else [marks.begin]
    scored = [False] * len(ids)
    images: list[int] = []
    n_bytes = 0
    for at, part in enumerate(parts):
        if isinstance(part, int):
            new = [marks.end_of_chunk, marks.image] if images else [marks.image]
            images.append(part)
        else:
            raw = without_literals(part, literals).strip().encode("utf-8", "replace")
            text = raw.decode()  # a lone surrogate, which tokenizers refuse, is a question mark now
            n_bytes += 0 if isinstance(part, Given) else len(raw)
            if at and isinstance(parts[at - 1], str):  # what is given, and what is not, are pieces of their own
                text = PARAGRAPH_SEPARATOR + text
            # a tokenizer may have spellings of its marks that we do not know of
            new = [i for i in encode(text) if i not in (marks.image, marks.end_of_chunk)] if text else []
        ids += new
        scored += [isinstance(part, str) and not isinstance(part, Given)] * len(new)
    if images:
        ids.append(marks.end_of_chunk)
        scored.append(False)
    scored[:1] = [False] * len(scored[:1])  # the first token has nothing to be predicted from
    return Layout(np.array(ids, np.int64), np.array(scored, np.bool_), tuple(images), n_bytes)


def without_literals(text: str, literals: Sequence[str]) -> str:
    """A text without these strings, in linear time.

    What their removal brings together (`<im<image>age>`) becomes a space: removing again and again would take
    quadratic time on a page that nests them.
    """
    if not literals:
        return text
    pattern = re.compile("|".join(re.escape(mark) for mark in sorted(literals, key=len, reverse=True)))
    return pattern.sub(" ", pattern.sub("", text))
