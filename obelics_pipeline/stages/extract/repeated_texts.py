"""Texts that a page has twice: for wide screens and for narrow ones, or in a quotation of the post above."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.stages.extract import default_rules as rules
from obelics_pipeline.stages.extract.tags import TEXT, flags
from obelics_pipeline.stages.extract.tree import CHARS, JOIN, TAG, SimplifiedTree

# Characters without white space. What is shorter, such as a cell of a table, may well say the same twice.
_LONG = 50
_HEADING = flags(*rules.TAGS[rules.HEADING])
_CODE = flags(*rules.TAGS[rules.PREFORMATTED])


def repeated_texts(tree: SimplifiedTree, kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which of the kept rows say word for word what a kept text before them says, one flag a row.

    Code may say the same twice, and so may short texts, except a heading right behind its like.
    """
    found = np.zeros(len(tree.rows), np.bool_)
    tags = tree.rows[:, TAG]
    in_heading, in_code = tree.inside_tags(_HEADING), tree.inside_tags(_CODE)
    said: set[str] = set()
    before: str | None = None
    for row in np.flatnonzero(kept & (tags == TEXT) & ~in_code & (tree.rows[:, JOIN] == 0)).tolist():
        text = str(tree.values[row])
        if tree.rows[row, CHARS] >= _LONG:
            found[row] = text in said
            said.add(text)
        elif in_heading[row]:
            found[row] = text == before
        before = text
    return found
