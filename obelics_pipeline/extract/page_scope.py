"""What is kept of a page as a whole: all but its frame."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.extract import default_rules as rules
from obelics_pipeline.extract.tags import tag_id
from obelics_pipeline.extract.tree import END, TAG, SimplifiedTree

_FRAME = frozenset(map(tag_id, rules.TAGS[rules.FRAME]))
_CONTENT = frozenset(map(tag_id, rules.TAGS[rules.CONTENT]))
_QUOTING = frozenset(map(tag_id, ("blockquote", "figure")))
_HEADER, _H1 = tag_id("header"), tag_id("h1")


def page_scope(tree: SimplifiedTree) -> NDArray[np.bool_]:
    """One flag a row: False in an aside or a footer that is not a quotation's, and in a page's header but for its h1.

    The header of an article or of the main element is content.
    """
    kept = np.ones(len(tree.rows), np.bool_)
    tags, ends = (tree.rows[:, column].tolist() for column in (TAG, END))
    content_end = quoting_end = 0  # where the outermost such element that is open ends
    for row, tag in enumerate(tags):
        if tag in _CONTENT:
            content_end = max(content_end, ends[row])
        elif tag in _QUOTING:
            quoting_end = max(quoting_end, ends[row])
        elif not kept[row]:
            continue
        elif tag in _FRAME and row >= quoting_end:
            kept[row : ends[row]] = False
        elif tag == _HEADER and row >= content_end:
            kept[row : ends[row]] = False
            title = next((inner for inner in range(row, ends[row]) if tags[inner] == _H1), None)
            if title is not None:
                kept[title : ends[title]] = True
    return kept
