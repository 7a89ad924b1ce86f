"""The form of a text that the reference's language models were trained on."""

from __future__ import annotations

import re
from functools import lru_cache

from filters.whitespace import standardize_whitespace

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
_DIGIT = re.compile(r"\d")

# CCNet's table, as the reference uses it: the full-width 1 is among the quotes, out of reach since digits go first.
_PUNCTUATION = (
    dict(zip("，。、∶：？！（）；～’´━〈〉【】％►–", ",.,::?!();~''-<>[]%--", strict=True))
    | dict.fromkeys("„”“«»１」「《》", '"')
    | {"—": " - ", "．": ". ", "…": "..."}
)
_CHANGED = re.compile(f"[{''.join(_PUNCTUATION)}]")


@lru_cache(maxsize=1)  # several filters measure one text after the other
def normalized(text: str) -> str:
    """A text without control characters, with digits as 0 and ASCII punctuation; case is kept.

    Newlines are control characters, so the last word of a paragraph is glued to the first of the next, as there.
    """
    text = standardize_whitespace(_CONTROL.sub("", text).strip())
    return _CHANGED.sub(lambda found: _PUNCTUATION[found[0]], _DIGIT.sub("0", text))
