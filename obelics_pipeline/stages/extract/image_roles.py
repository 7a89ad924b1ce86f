"""The role of a picture in its document (lead, one of a gallery, or inline) and its position."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.stages.extract.image_candidates import Candidate
from obelics_pipeline.stages.extract.tags import flags
from obelics_pipeline.stages.extract.tree import CHARS, SimplifiedTree, sums_before

_GALLERY = 3  # pictures in a row
_CAPTION = 80  # characters that may stand between two of them, those in figures not counted
_FIGURE = flags("figure")
_LEAD_TEXT = 300  # characters of kept text, such as a title and a summary, that may stand before the lead picture


def set_roles(tree: SimplifiedTree, kept: NDArray[np.bool_], pictures: Sequence[Candidate]) -> None:
    """Set the role and the position of each picture. `kept` has one flag a row, as `compose` takes it."""
    if not pictures:
        return
    characters = np.where(kept, tree.rows[:, CHARS], 0)
    rows = [picture.row for picture in pictures]
    places: list[int] = sums_before(characters)[rows].tolist()
    for picture, place in zip(pictures, places, strict=True):
        picture.image.position = place
    outside = np.where(tree.inside_tags(_FIGURE), 0, characters)
    for group in _groups(sums_before(outside)[rows].tolist()):
        for number in group:
            pictures[number].image.role = "gallery" if len(group) >= _GALLERY else "inline"
    if places[0] <= _LEAD_TEXT and pictures[0].image.role == "inline":
        pictures[0].image.role = "lead"


def _groups(places: Sequence[int]) -> list[list[int]]:
    """Pictures with hardly any text between them."""
    groups: list[list[int]] = []
    for number, place in enumerate(places):
        if groups and place - places[number - 1] <= _CAPTION:
            groups[-1].append(number)
        else:
            groups.append([number])
    return groups
