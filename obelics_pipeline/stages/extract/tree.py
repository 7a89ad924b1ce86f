"""The simplified DOM tree of a page: what may be content, as rows in document order.

A row is an element, a text or an image. Scripts, forms' fields, navigation, comments and hidden elements are gone;
inline elements are dissolved into the text that they are part of; elements in which nothing is left have no row. The
rows of an element's subtree follow it, up to its `END`, so that a sum over a subtree is a difference of two sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.stages.extract import default_rules as rules
from obelics_pipeline.stages.extract.image_source import Attributes
from obelics_pipeline.stages.extract.tags import tag_id

try:
    from obelics_pipeline.stages.extract import _tree
except ImportError:
    COMPILED = False
else:
    COMPILED = True
    compiled = _tree

# Columns of `SimplifiedTree.rows`. From CHARS on they count in the text of a row, and are 0 elsewhere.
TAG = 0  # Lexbor's number of the tag; TEXT for a text, CUSTOM for an element that is not of the standard
PARENT = 1  # row of the element around it, -1 for none
END = 2  # row after the last of its subtree
MARKS = 3  # what class, id and itemprop say, as bits (see marks.py), of dissolved inline elements too
JOIN = 4  # how a text continues the one before the images before it: 0 not at all, 1 directly, 2 after a space
CHARS = 5  # characters without white space
LINKED = 6  # of these, those inside links
WORDS = 7  # stretches without white space
COMMAS = 8
STOPS = 9  # ends of sentences
DIGITS = 10
UPPERS = 11  # capital letters
WIDE = 12  # characters of scripts written without spaces
ENDS = 13  # 1 if it ends like a sentence
WIDTH = 14

LANGUAGE = "data-language"  # the attribute of preformatted text that names its language

_NAMES = {tag_id(name): name for names in rules.TAGS.values() for name in names}


@dataclass(frozen=True, slots=True)
class SimplifiedTree:
    """The rows of a page.

    `rows` has shape (rows, WIDTH). `values` has the text of a text row, the attributes of an image and of a source of
    a picture, the language of preformatted text whose element names it, and None at other elements. `hrefs` has the
    addresses of the links around images, by row. `declarations` has the attributes of meta and base elements, by tag,
    in document order; `links` has the address and the `rel` of every link that a reader can see, in document order,
    those in navigation not among them.
    """

    rows: NDArray[np.int32]
    values: Sequence[str | Attributes | None]
    hrefs: dict[int, str]
    declarations: Sequence[tuple[int, Attributes]]
    links: Sequence[tuple[str, str | None]] = ()

    def inside(self, is_root: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which rows lie in the subtree of one of the roots, these included; one flag a row."""
        if COMPILED:
            return np.frombuffer(compiled.inside(self.rows, is_root), np.bool_)
        return inside(self.rows, is_root)

    def inside_tags(self, is_wanted: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The same of the elements with some tags: a table by tag, as `flags` makes it."""
        if COMPILED:
            return np.frombuffer(compiled.inside_tags(self.rows, is_wanted), np.bool_)
        return inside(self.rows, is_wanted[self.rows[:, TAG]])


def inside(rows: NDArray[np.int32], is_root: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """What `SimplifiedTree.inside` says, in Python."""
    found = np.zeros(len(rows), np.bool_)
    roots = is_root.nonzero()[0]
    after = 0  # the row behind the last subtree, so that one in another is passed
    for root, end in zip(roots.tolist(), rows[roots, END].tolist(), strict=True):
        if root >= after:
            found[root:end] = True
            after = end
    return found


def sums_before(values: NDArray[np.generic]) -> NDArray[np.int64]:
    """The sum of the values before each row, and of all of them at the end: over a subtree, `[END] - [row]`."""
    if COMPILED:
        return np.frombuffer(compiled.sums_before(values), np.int64)
    return sums_in_numpy(values)


def sums_in_numpy(values: NDArray[np.generic]) -> NDArray[np.int64]:
    """What `sums_before` says, in NumPy."""
    sums = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, out=sums[1:])
    return sums


def tag_name(tag: int) -> str:
    """The name of the tag of an element or an image."""
    return _NAMES.get(tag, "custom")
