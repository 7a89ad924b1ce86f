"""Features that separate a page's main content from the rest: compiled if that was built, else with NumPy.

`main_features_pure` defines the features.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from obelics_pipeline.stages.extract import main_features_pure as pure
from obelics_pipeline.stages.extract import section_titles
from obelics_pipeline.stages.extract.main_features_pure import Floats, Ints
from obelics_pipeline.stages.extract.tags import TEXT
from obelics_pipeline.stages.extract.tree import SimplifiedTree

NAMES = pure.NAMES

# The bits of a tag's entry (_main_features.c); below them is its code, above them what it says as one around a text.
_TEXT, _IMAGE, _FRAME, _INNER, _WHOLE = (1 << number for number in range(8, 13))


def _set_up() -> Any:
    """The compiled twin, told the rules; None where it was not built."""
    try:
        twin = import_module("obelics_pipeline.stages.extract._main_features")
    except ImportError:
        return None
    most, of = pure.MOST
    twin.set_up(
        tags=_entries(),
        bits=np.concatenate([pure.MARK_BITS, pure.AROUND_BITS]),
        upward=np.array(pure.UPWARD, np.int64),
        neighbours=np.array(pure.NEIGHBOURS, np.int64),
        least_long=pure.LONG,
        least_short=pure.SHORT,
        full=pure.FULL,
        most=most,
        of=of,
        far=pure.FAR,
        levels=pure.LEVELS,
        width=len(NAMES),
        ellipses=pure.ELLIPSES,
        longest_title=section_titles.LONGEST,
        before_title=section_titles.BEFORE,
        beginnings=section_titles.BEGINNINGS,
        is_section_title=section_titles.is_section_title,
    )
    return twin


def _entries() -> Ints:
    entries = pure.CODE | pure.AROUND_BIT | _FRAME * pure.IS_FRAME | _INNER * pure.IS_INNER | _WHOLE * pure.IS_WHOLE
    entries[TEXT] |= _TEXT
    entries[pure.IMG] |= _IMAGE
    return entries


_twin = _set_up()
COMPILED = _twin is not None


def main_features(tree: SimplifiedTree) -> tuple[Ints, Floats]:
    """The rows of the texts outside the page's frame (aside, footer), and their features in the order of `NAMES`.

    Shapes: (texts,) and (texts, len(NAMES)). The compiled version raises ValueError for rows that form no tree.
    """
    if _twin is None:
        return pure.main_features(tree)
    texts, features = _twin.main_features(np.ascontiguousarray(tree.rows, np.int32), tree.values)
    return np.frombuffer(texts, np.int64), np.frombuffer(features, np.float32).reshape(-1, len(NAMES))
