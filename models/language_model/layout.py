"""A document as a language model reads it: token ids, where its images stand, which tokens are scored.

Texts are parted by a blank line, with or without an image between them, and an image stands before that line. So a
document with its images left out has the same text tokens in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from obelics_pipeline.core.document import PARAGRAPH_SEPARATOR
from obelics_pipeline.models.flamingo.layout import Piece, without_literals


@dataclass(frozen=True, slots=True)
class Marks:
    """What of a tokenizer is not text. `begin`: the id that a document begins with, or None.

    `literals` are what the tokenizer would take for marks if a page wrote them; `ids` are those of marks, which no
    text has. `shared`: the id that ends an image and begins the next, and stands once between two (Idefics2); or None.
    """

    begin: int | None
    literals: tuple[str, ...] = ()
    ids: frozenset[int] = frozenset()
    shared: int | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """Where an image stands: its first token, the one behind its last, and its number."""

    start: int
    stop: int
    image: int


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """A laid out document of n tokens.

    `ids` int64 (n); `scored` bool (n), True where a token is text: without a token to begin with, all but the first of
    the text, which has nothing before it where images are left out; the `images` in order; `n_bytes` of the text in
    UTF-8.
    """

    ids: npt.NDArray[np.int64]
    scored: npt.NDArray[np.bool_]
    images: tuple[Span, ...]
    n_bytes: int

    def without_images(self) -> Layout:
        """The same text tokens, the same of them scored, and no image."""
        text = np.ones(len(self.ids), np.bool_)
        for span in self.images:
            text[span.start : span.stop] = False
        return Layout(self.ids[text], self.scored[text], (), self.n_bytes)


def lay_out(
    parts: Sequence[Piece], encode: Callable[[str], Sequence[int]], marks: Marks, images: Sequence[Sequence[int]] = ()
) -> Layout:
    """Texts and images as one sequence.

    `encode` gives a text's tokens, none added; `images` the tokens of each image by its number.
    """
    ids: list[int] = [] if marks.begin is None else [marks.begin]
    scored = [False] * len(ids)
    spans: list[Span] = []
    n_bytes = 0
    for part in parts:
        if isinstance(part, int):
            new = list(images[part])
            if spans and spans[-1].stop == len(ids) and ids[-1] == new[0] == marks.shared:
                new = new[1:]
            spans.append(Span(len(ids), len(ids) + len(new), part))
        else:
            text = without_literals(part, marks.literals).strip()
            if text and n_bytes:
                text = PARAGRAPH_SEPARATOR + text
            raw = text.encode("utf-8", "replace")  # a lone surrogate, which tokenizers refuse, is a question mark now
            n_bytes += len(raw)
            # a tokenizer may have spellings of its marks that we do not know of
            new = [i for i in encode(raw.decode()) if i not in marks.ids] if raw else []
        ids += new
        scored += [isinstance(part, str)] * len(new)
    if marks.begin is None and True in scored:
        scored[scored.index(True)] = False
    return Layout(np.array(ids, np.int64), np.array(scored, np.bool_), tuple(spans), n_bytes)
