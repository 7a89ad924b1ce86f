"""How near a text comes to what is known of its page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean

from obelics_pipeline.fit.gold import Truth
from obelics_pipeline.fit.snippets import SearchedText

_TOKEN = re.compile(r"\w+")
_SHINGLE = 4  # tokens: the measure of scrapinghub/article-extraction-benchmark, which makes figures comparable


@dataclass(frozen=True, slots=True)
class Figures:
    """Shares in 0 … 1; those of articles, and those of snippets, are 0 where no page has any.

    `precision` is averaged over the articles' pages with a text, `recall` over all of them; `f1` is of these two means.
    `found` is the share of wanted snippets, `avoided` that of unwanted ones which are not there; `balanced` their mean.
    """

    articles: int
    precision: float
    recall: float
    f1: float
    snippets: int
    found: float
    avoided: float
    balanced: float


def figures(judged: Iterable[tuple[Truth, str]]) -> Figures:
    """The figures over pages, given as what is known of a page and the text that was kept of it."""
    precisions: list[float] = []
    recalls: list[float] = []
    wanted: list[bool] = []
    unwanted: list[bool] = []
    for truth, text in judged:
        if truth.article is not None:
            precision, recall = shingle_scores(truth.article, text)
            precisions += [] if precision is None else [precision]
            recalls += [] if recall is None else [recall]
        searched = SearchedText(text)
        wanted += map(searched.has, truth.wanted)
        unwanted += (not searched.has(snippet) for snippet in truth.unwanted)
    precision, recall, found, avoided = (fmean(v) if v else 0.0 for v in (precisions, recalls, wanted, unwanted))
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    n_snippets = len(wanted) + len(unwanted)
    return Figures(len(recalls), precision, recall, f1, n_snippets, found, avoided, (found + avoided) / 2)


def shingle_scores(article: str, text: str) -> tuple[float | None, float | None]:
    """Precision and recall of the bags of shingles; None where the text, or the article, has none."""
    expected, given = _shingles(article), _shingles(text)
    both = (expected & given).total()
    return (
        both / given.total() if given else None,
        both / expected.total() if expected else None,
    )


def _shingles(text: str) -> Counter[tuple[str, ...]]:
    """A text of fewer tokens is one shingle."""
    tokens = _TOKEN.findall(text)
    starts = range(max(1, len(tokens) - _SHINGLE + 1)) if tokens else ()
    return Counter(tuple(tokens[start : start + _SHINGLE]) for start in starts)


def word_f1(article: str, text: str) -> float:
    """F1 of the bags of words, in lower case: the measure of WCXB (Foley, 2026). Of two empty texts it is 1."""
    expected, given = (Counter(_TOKEN.findall(words.lower())) for words in (article, text))
    both = (expected & given).total()
    return 2 * both / (expected.total() + given.total()) if expected or given else 1.0
