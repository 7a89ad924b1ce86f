"""The odd spaces that the reference makes plain ones."""

from __future__ import annotations

import re

from obelics_pipeline.filters import statistics
from obelics_pipeline.filters.characters import bitmap

_ODD = "\u2009\u200a\u202f\u2005\u3000\u2002\u2008\u2003\ufffc\u0084\u00a0"
_ODD_BITMAP = bitmap(map(ord, _ODD))
_ODD_PATTERN = re.compile(f"[{_ODD}]")


def standardize_whitespace(text: str) -> str:
    """Replace the reference's eleven odd spaces, U+FFFC and U+0084 among them, by a plain space, one for one."""
    if text.isascii() or not statistics.count_characters(_ODD_BITMAP, text):
        return text
    return _ODD_PATTERN.sub(" ", text)
