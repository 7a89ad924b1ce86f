"""What readers wrote below a page's main text, found by the names that content management systems give to elements.

Posts of a thread are no comments: they are what the page is about. What buyers say on the page of a product is.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.stages.extract.find import find
from obelics_pipeline.stages.extract.marks import BITS
from obelics_pipeline.stages.extract.tags import TEXT, flags
from obelics_pipeline.stages.extract.tree import (
    CHARS,
    DIGITS,
    END,
    ENDS,
    LINKED,
    MARKS,
    TAG,
    SimplifiedTree,
    sums_before,
)

COMMENT = "comment"

_NAMED = BITS["comment"]
_REPLY = BITS["comment"] | BITS["forum"]  # what both have in common: a button below what can be answered
_REVIEWS = BITS["product"]  # of a product, which its page is about
_AUTHOR = BITS["byline"] | BITS["avatar"]
_BESIDE = _AUTHOR | BITS["form"] | BITS["share"] | BITS["nav"] | BITS["unseen"]
_RELATED = BITS["related"]
_REVIEW = BITS["review"]
_WHOLE, _H1, _FORM = flags("html", "body"), flags("h1"), flags("form")
_OTHER = flags("form", "h1", "h2", "h3", "h4", "h5", "h6")

# Chosen by reading the gold pages of half of the domains, and checked on those of the other half.
_LEAST = 300  # characters of main text, without which the named elements are the main text
_LEAST_BESIDE = 200  # characters of main text outside of reviews, without which they are the main text
_BEFORE = 0.7  # of the main text stands before its comments
_REPLIES = 3  # buttons from which on the element around them holds comments
_LINE = 100  # characters that a name, a date or a button beside a comment has at most
_WORDY = 25  # characters from which on a line without the end of a sentence is one, not a button
_DATE = 4  # a line of which one character in so many is a digit is a date or a count

# What says in all languages that a page is a thread: the type it declares (schema.org, as forum software writes it
# for search engines), and how that software names pages.
_TYPES = (b"DiscussionForumPosting", b"QAPage")
_ADDRESS = re.compile(
    r"for(?:ums?|en|os?)[./]|[/.](?:threads?|boards?|bbs|discuss|discussions?|t|comments)[/.]|/topic/\d"
    r"|(?:show|view)(?:thread|topic)|/post/\d+$|/item\?id=",
    re.IGNORECASE,
)


def is_thread(source: bytes, url: str) -> bool:
    """Whether a page says that it is a thread of posts, or questions and their answers."""
    return _ADDRESS.search(url) is not None or any(find(source, name, 0) >= 0 for name in _TYPES)


def find_comments(tree: SimplifiedTree, kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which rows are in comments, or in what stands around them, such as a form; one flag a row.

    `kept` has one flag a row, True at the texts of the main content, some of which may be comments.
    """
    tags, ends, marks = tree.rows[:, TAG], tree.rows[:, END], tree.rows[:, MARKS]
    named = marks & _NAMED > 0
    if not named.any():
        return np.zeros(len(tags), np.bool_)
    named &= ~_WHOLE[tags]
    main = np.where(kept & (tags == TEXT), tree.rows[:, CHARS], 0)
    if not named.any() or not main.any():
        return np.zeros(len(tags), np.bool_)
    first, headings = int(np.flatnonzero(main)[0]), sums_before(_H1[tags])
    below = ((np.arange(len(tags)) > first) | (ends <= first)) & (headings[ends] == headings[:-1])
    named = (named | _around_replies(tree)) & below
    outside = sums_before(np.where(tree.inside(named), 0, main))
    reviews = tree.inside((marks & _REVIEWS > 0) & below)
    found = tree.inside(named & ~reviews & (outside[:-1] >= _BEFORE * outside[-1]))
    forms = tree.inside(_FORM[tags] & (outside[ends] == outside[:-1]))  # one around the main text is of the whole page
    if outside[-1] < _LEAST or not (found & (marks & _AUTHOR > 0) & ~forms).any():
        return np.zeros(len(tags), np.bool_)
    return found


def _around_replies(tree: SimplifiedTree) -> NDArray[np.bool_]:
    """The innermost element around all buttons to reply, one flag a row; none where they are few."""
    found = np.zeros(len(tree.rows), np.bool_)
    ends = tree.rows[:, END]
    replies = np.flatnonzero((tree.rows[:, MARKS] & _REPLY == _REPLY) & _is_short(tree))
    if len(replies) >= _REPLIES:
        around = np.flatnonzero(ends[: replies[0]] > replies[-1])
        found[around[-1:]] = True
    return found


def find_reviews(tree: SimplifiedTree, kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which rows of the page of a product are in what buyers wrote of it, one flag a row.

    None are where hardly any main text stands outside of them: there the name is one of the whole page. `kept` has one
    flag a row, True at the texts of the main content.
    """
    rows = tree.rows
    found = tree.inside((rows[:, MARKS] & _REVIEW > 0) & ~_WHOLE[rows[:, TAG]])
    main = np.where(kept & (rows[:, TAG] == TEXT), rows[:, CHARS], 0)
    if main[~found].sum() < _LEAST_BESIDE:
        return np.zeros(len(rows), np.bool_)
    return found


def written(tree: SimplifiedTree, comments: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which of the rows that `find_comments` found readers wrote or showed, one flag a row.

    Names, faces, dates, headings, links, buttons and forms are not theirs.
    """
    rows = tree.rows
    tags, marks = rows[:, TAG], rows[:, MARKS]
    beside = (_is_short(tree) & (marks & _BESIDE > 0)) | (comments & (_OTHER[tags] | (marks & _RELATED > 0)))
    button = (rows[:, CHARS] < _WORDY) & (rows[:, ENDS] == 0)
    date = _DATE * rows[:, DIGITS] >= rows[:, CHARS]
    linked = 2 * rows[:, LINKED] >= rows[:, CHARS]
    found: NDArray[np.bool_] = comments & ~tree.inside(beside) & ~((tags == TEXT) & (button | date | linked))
    return found


def _is_short(tree: SimplifiedTree) -> NDArray[np.bool_]:
    """Whether a row holds no more text than what stands beside a comment, one flag a row."""
    characters = sums_before(tree.rows[:, CHARS])
    short: NDArray[np.bool_] = characters[tree.rows[:, END]] - characters[:-1] <= _LINE
    return short
