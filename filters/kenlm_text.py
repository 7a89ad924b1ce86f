"""The form of a text that the reference's language models were trained on."""

from __future__ import annotations

import re
from functools import lru_cache

from obelics_pipeline.filters.whitespace import standardize_whitespace

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
_CONTROLS = frozenset(map(chr, [*range(0x20), *range(0x7F, 0xA0)]))
_DIGIT = re.compile(r"\d")

# CCNet's table, as the reference uses it: the full-width 1 is among the quotes, out of reach since digits go first.
_PUNCTUATION = (
    dict(zip("，。、∶：？！（）；～’´━〈〉【】％►–", ",.,::?!();~''-<>[]%--", strict=True))
    | dict.fromkeys("„”“«»１」「《》", '"')
    | {"—": " - ", "．": ". ", "…": "..."}
)
_LONGER = {character: instead for character, instead in _PUNCTUATION.items() if len(instead) > 1}
_CHANGED = re.compile(f"[{''.join(_PUNCTUATION)}]")


@lru_cache(maxsize=1)  # several filters measure one text after the other
def normalized(text: str) -> str:
    """A text without control characters, with digits as 0 and ASCII punctuation; case is kept.

    Newlines are control characters, so the last word of a paragraph is glued to the first of the next, as there.
    """
    text = standardize_whitespace(_CONTROL.sub("", text).strip())
    return _CHANGED.sub(lambda found: _PUNCTUATION[found[0]], _DIGIT.sub("0", text))


def places(text: str) -> list[int]:
    """Where each character of `normalized` stands in the text."""
    bare = _CONTROL.sub("", text)
    first = len(bare) - len(bare.lstrip())
    kept = [place for place, character in enumerate(text) if character not in _CONTROLS]
    kept = kept[first : first + len(bare.strip())]
    return [place for place in kept for _ in _LONGER.get(text[place], ".")]
