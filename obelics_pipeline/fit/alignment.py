"""Which texts of a page are in an article: the words of both, laid side by side."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

import numpy as np
from numpy.typing import NDArray

_WORD = re.compile(r"\w+")
# Thai to Tibetan, and all from the East Asian scripts on: written without spaces, so that each character is a word.
UNSPACED = re.compile("[\u0e00-\u0fff\u2e80-\ud7ff\U00020000-\U0010ffff]")
_MOST_PAIRS = 4_000_000  # of equal words of page and article; what has more takes minutes (books, lists of numbers)


def shares_in(article: str, texts: Sequence[str]) -> NDArray[np.float64] | None:
    """The share of each text's words that are in the article, in the order of the page; 0 for a text without words.

    None where the two are too long to compare.
    """
    in_texts = [words(text) for text in texts]
    page = [word for found in in_texts for word in found]
    wanted = words(article)
    times = Counter(wanted)
    if sum(times[word] for word in page) > _MOST_PAIRS:
        return None
    hit = np.zeros(len(page) + 1, np.int64)
    for block in SequenceMatcher(None, page, wanted, autojunk=False).get_matching_blocks():
        hit[block.a + 1 : block.a + block.size + 1] = 1
    sizes = np.array([len(found) for found in in_texts], np.int64)
    ends = np.cumsum(sizes)
    before = np.cumsum(hit)
    shares: NDArray[np.float64] = (before[ends] - before[ends - sizes]) / np.maximum(1, sizes)
    return shares


def words(text: str) -> list[str]:
    """The words of a text; those of scripts without spaces are its characters."""
    found: list[str] = []
    for word in _WORD.findall(text):
        if UNSPACED.search(word):
            found += word
        else:
            found.append(word)
    return found
