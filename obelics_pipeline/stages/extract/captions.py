"""The texts that describe a picture: they stay with it, and have a role of their own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.stages.extract.image_candidates import Candidate
from obelics_pipeline.stages.extract.marks import BITS
from obelics_pipeline.stages.extract.tags import TEXT, tag_id
from obelics_pipeline.stages.extract.tree import CHARS, END, MARKS, PARENT, TAG, SimplifiedTree, sums_before

CAPTION = "caption"

_FIGURE, _FIGCAPTION, _IMG = tag_id("figure"), tag_id("figcaption"), tag_id("img")
_NAMED = BITS["caption"]
_LONGEST = 300  # characters of a caption that only the name of an element tells of
_NEAR = 4  # rows behind a picture within which such a caption begins: the elements around it
_AROUND = 3  # a text and elements around it whose names tell


def in_captions(tree: SimplifiedTree, pictures: Sequence[Candidate]) -> NDArray[np.bool_]:
    """Which rows are in the caption of a figure with one of the pictures, one flag a row."""
    tags, ends = tree.rows[:, TAG], tree.rows[:, END]
    shown = np.zeros(len(tags), np.bool_)
    captions = tags == _FIGCAPTION
    if not pictures or not captions.any():
        return shown
    shown[[picture.row for picture in pictures]] = True
    before = sums_before(shown)
    figures = (tags == _FIGURE) & (before[ends] > before[:-1])
    return tree.inside(tree.inside(figures) & captions)


def named_captions(tree: SimplifiedTree, pictures: Sequence[Candidate]) -> dict[int, str]:
    """The role of each text right behind one of the pictures whose element is named as a caption or a credit."""
    found: dict[int, str] = {}
    if not pictures:
        return found
    cells, before = tree.rows.data, sums_before(tree.rows[:, CHARS]).data  # few are looked at
    for picture in pictures:
        end = cells[picture.row, END]
        for row in range(end, min(end + _NEAR, len(cells))):
            tag = cells[row, TAG]
            if tag == TEXT and cells[row, CHARS] <= _LONGEST and _is_named(cells, before, row):
                found[row] = CAPTION
            if tag in (TEXT, _IMG):
                break
    return found


def _is_named(cells: memoryview, before: memoryview, row: int) -> bool:
    """Whether a text, or an element that has hardly more than it, is named as a caption.

    `cells` are the rows of the tree, `before` the characters before each of them.
    """
    for _ in range(_AROUND):
        if cells[row, MARKS] & _NAMED:
            return True
        row = cells[row, PARENT]
        if row < 0 or before[cells[row, END]] - before[row] > _LONGEST:
            return False
    return False
