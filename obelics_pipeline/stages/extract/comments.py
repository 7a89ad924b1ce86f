"""The comments below a page's main text, found by the names that content management systems give to their elements.

Posts of a thread are no comments: they are what the page is about.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.stages.extract.marks import BITS
from obelics_pipeline.stages.extract.tags import TEXT, flags
from obelics_pipeline.stages.extract.tree import CHARS, END, LINKED, MARKS, TAG, SimplifiedTree, sums_before

COMMENT = "comment"

_NAMED = BITS["comment"]
_REVIEWS = BITS["product"]  # of a product, which its page is about
_BESIDE = BITS["byline"] | BITS["avatar"] | BITS["form"] | BITS["share"] | BITS["nav"] | BITS["unseen"]
_WHOLE, _H1, _FORM = flags("html", "body"), flags("h1"), flags("form")

# Chosen on half of the gold pages, by domain; the other half agrees (docs/extraction.md).
_LEAST = 300  # characters of main text, without which the named elements are the main text
_BEFORE = 0.7  # of the main text stands before its comments
_LINE = 100  # characters of an element that a name, a date or a button beside a comment has at most

# What says in all languages that a page is a thread: the type it declares (schema.org, as forum software writes it
# for search engines), and how that software names pages.
_TYPES = (b"DiscussionForumPosting", b"QAPage")
_ADDRESS = re.compile(
    r"for(?:ums?|en|os?)[./]|[/.](?:threads?|topics?|boards?|bbs|discuss|discussions?|t)[/.]|(?:show|view)(?:thread|topic)",
    re.IGNORECASE,
)


def is_thread(source: bytes, url: str) -> bool:
    """Whether a page says that it is a thread of posts, or questions and their answers."""
    return _ADDRESS.search(url) is not None or any(name in source for name in _TYPES)


def find_comments(tree: SimplifiedTree, kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which rows are in comments, and in what stands around them, such as a form; one flag a row.

    `kept` has one flag a row, True at the texts of the main content, some of which may be comments.
    """
    tags, ends = tree.rows[:, TAG], tree.rows[:, END]
    named = (tree.rows[:, MARKS] & _NAMED > 0) & ~_WHOLE[tags]
    main = np.where(kept & (tags == TEXT), tree.rows[:, CHARS], 0)
    if not named.any() or not main.any():
        return np.zeros(len(tags), np.bool_)
    first, headings = int(np.flatnonzero(main)[0]), sums_before(_H1[tags])
    around_main = (np.arange(len(tags)) <= first) & (ends > first)
    named &= ~around_main & (headings[ends] == headings[:-1])
    outside = sums_before(np.where(tree.inside(named), 0, main))
    if outside[-1] < _LEAST:
        return np.zeros(len(tags), np.bool_)
    below = named & (outside[:-1] >= _BEFORE * outside[-1])
    reviews = tree.inside((tree.rows[:, MARKS] & _REVIEWS > 0) & ~_WHOLE[tags])
    return tree.inside(below & ~reviews)


def comment_texts(tree: SimplifiedTree, comments: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which of these rows are texts that readers wrote: no names, dates, links and forms; one flag a row."""
    rows = tree.rows
    tags, ends, marks = rows[:, TAG], rows[:, END], rows[:, MARKS]
    characters = sums_before(np.where(tags == TEXT, rows[:, CHARS], 0))
    short = characters[ends] - characters[:-1] <= _LINE
    beside = tree.inside((short & (marks & _BESIDE > 0)) | _FORM[tags])
    return comments & (tags == TEXT) & ~beside & (2 * rows[:, LINKED] < rows[:, CHARS])
