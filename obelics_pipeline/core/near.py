"""The valid name that a person most likely meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, valid: Iterable[str]) -> str:
    """`; did you mean NAME?` with the valid name that is most like the given one; empty where none is alike.

    Likeness is that of `difflib.get_close_matches`, with its default bound of 0.6.
    """
    near = difflib.get_close_matches(name, list(valid), n=1)
    return f"; did you mean {near[0]}?" if near else ""
