"""What is kept of a page as a whole: all but its frame."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.stages.extract import default_rules as rules
from obelics_pipeline.stages.extract.tags import flags, tag_id
from obelics_pipeline.stages.extract.tree import END, TAG, SimplifiedTree

_FRAME = frozenset(map(tag_id, rules.TAGS[rules.FRAME]))
_CONTENT = frozenset(map(tag_id, rules.TAGS[rules.CONTENT]))
_QUOTING = frozenset(map(tag_id, ("blockquote", "figure")))
_H1 = tag_id("h1")
_TELLING = flags(*rules.TAGS[rules.FRAME], *rules.TAGS[rules.CONTENT], "blockquote", "figure", "header")


def page_scope(tree: SimplifiedTree) -> NDArray[np.bool_]:
    """One flag a row: False in an aside or a footer outside of quotations, and in a page's header except its h1.

    The header of an article or of the main element is content.
    """
    kept = np.ones(len(tree.rows), np.bool_)
    tags, ends = tree.rows[:, TAG], tree.rows[:, END]
    content_end = quoting_end = 0  # where the outermost such element that is open ends
    telling = np.flatnonzero(_TELLING[tags])
    for row, tag, end in zip(telling.tolist(), tags[telling].tolist(), ends[telling].tolist(), strict=True):
        if tag in _CONTENT:
            content_end = max(content_end, end)
        elif tag in _QUOTING:
            quoting_end = max(quoting_end, end)
        elif not kept[row]:
            continue
        elif tag in _FRAME:
            kept[row:end] = row < quoting_end
        elif row >= content_end:
            kept[row:end] = False
            for title in (row + np.flatnonzero(tags[row:end] == _H1))[:1].tolist():
                kept[title : ends[title]] = True
    return kept
