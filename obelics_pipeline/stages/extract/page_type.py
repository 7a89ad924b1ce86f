"""What kind of page a page is: by its numbers, and the model that comes with the package."""

from __future__ import annotations

import functools

from obelics_pipeline.models.forest import Forest
from obelics_pipeline.models.page_type import MODEL, PageType, judge
from obelics_pipeline.stages.extract.page_numbers import NAMES, Numbers


def find_page_type(numbers: Numbers) -> PageType:
    """Judge a page by its numbers, in the order of `NAMES`."""
    return judge(numbers, _forest())


@functools.cache
def _forest() -> Forest:
    forest = Forest.load(MODEL)
    if forest.features != NAMES:
        raise ValueError(f"{MODEL}: made for other features than this version computes")
    return forest
