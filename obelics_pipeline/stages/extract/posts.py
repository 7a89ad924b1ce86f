"""The posts of a thread: which text of the page is of which of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.stages.extract.marks import BITS
from obelics_pipeline.stages.extract.tags import TEXT
from obelics_pipeline.stages.extract.tree import CHARS, END, MARKS, PARENT, TAG, SimplifiedTree, sums_before

_TELLING = BITS["byline"] | BITS["avatar"] | BITS["forum"] | BITS["comment"]  # of an author, or a post
_MOST = 0.5  # of the main text is in posts, where the page is laid out as them
_TAGS = 1 << 20  # more than there are numbers of tags


def number_posts(tree: SimplifiedTree, kept: NDArray[np.bool_]) -> NDArray[np.int32]:
    """The number of the post that each row is in, from 0 in the order of the page; -1 for a row in none.

    Posts are elements of one kind in the same element, each with main text and with the name of an author or a post in
    it: of all such groups the one that shares out most of the text. An answer inside of a post is part of it. `kept`
    has one flag a row, True at the texts of the main content.
    """
    numbers = np.full(len(tree.rows), -1, np.int32)
    tags, ends = tree.rows[:, TAG], tree.rows[:, END]
    text = sums_before(np.where(kept & (tags == TEXT), tree.rows[:, CHARS], 0))
    told = sums_before(tree.rows[:, MARKS] & _TELLING > 0)
    inside = text[ends] - text[:-1]
    rows = np.flatnonzero((inside > 0) & (told[ends] > told[:-1]) & (tags != TEXT))
    if not len(rows):
        return numbers
    _, group = np.unique(tree.rows[rows, PARENT].astype(np.int64) * _TAGS + tags[rows], return_inverse=True)
    sums = np.bincount(group, inside[rows])
    largest = np.zeros(len(sums))
    np.maximum.at(largest, group, inside[rows])
    best = int((sums - largest).argmax())
    if sums[best] == largest[best] or sums[best] < _MOST * text[-1]:
        return numbers
    posts = rows[group == best]
    begun = np.searchsorted(posts, np.arange(len(numbers)), "right") - 1
    within = (begun >= 0) & (np.arange(len(numbers)) < ends[posts[begun]])
    numbers[within] = begun[within]
    return numbers
