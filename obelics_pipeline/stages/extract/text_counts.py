"""What is counted in the text of a row of the simplified tree."""

from __future__ import annotations

from obelics_pipeline.stages.extract.default_texts import SOFT_HYPHEN

COMMAS = ",;，、；،؛"
STOPS = ".!?。！？．؟।"
SENTENCE_ENDS = STOPS + "…:："
CLOSERS = "\"'”’»)]）」』"  # may stand behind the end of a sentence
WIDE_RANGES = ((0x0E00, 0x109F), (0x1780, 0x17FF), (0x2E80, 0xD7FF), (0x20000, 0x3FFFF))  # Thai to Burmese; Khmer; CJK


def count_linked(piece: str) -> int:
    """Characters of a piece of text within a link, as CHARS counts them."""
    return sum(map(len, piece.replace(SOFT_HYPHEN, "").split()))


def count_text(text: str, linked: int) -> tuple[int, int, int, int, int, int, int, int, int]:
    """The columns from CHARS to ENDS of a text (see tree.py)."""
    words = text.split()
    chars = sum(map(len, words))
    return (
        chars,
        min(linked, chars),
        len(words),
        sum(map(text.count, COMMAS)),
        sum(map(text.count, STOPS)),
        sum(map(str.isdigit, text)),
        sum(map(str.isupper, text)),
        0 if text.isascii() else sum(map(_is_wide, map(ord, text))),
        int(text.rstrip(CLOSERS)[-1:] in tuple(SENTENCE_ENDS)),
    )


def _is_wide(code: int) -> bool:
    return any(first <= code <= last for first, last in WIDE_RANGES)
