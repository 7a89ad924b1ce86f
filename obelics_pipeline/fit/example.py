"""A page to learn from: the features of its texts, and what is known of each."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from selectolax.lexbor import LexborHTMLParser

from obelics_pipeline.core.config.extraction import ExtractionConfig
from obelics_pipeline.fit.alignment import shares_in
from obelics_pipeline.fit.folds import domain_of
from obelics_pipeline.fit.gold import Truth
from obelics_pipeline.fit.snippets import SearchedText
from obelics_pipeline.stages.extract.main_features import main_features
from obelics_pipeline.stages.extract.page import PageRejected, simplify_page
from obelics_pipeline.stages.extract.tree import CHARS
from obelics_pipeline.stages.read.page import Page

UNKNOWN = -1  # as a label

# Weights of texts, chosen with domains left out on the pages that the shipped model was fitted on. What counts is how
# much of the article, or of the page, a text is, as in the figures; but a line of a few words, right or wrong, counts
# for something, and one long text does not outweigh all others.
_LINE = 20  # characters that every text has on top of its own
_ARTICLE = 8.0  # weight of a text as long as the article
_ARTICLE_LINE = 50  # characters that every article has on top of its own
_ARTICLE_MOST = 15.0
_ARTICLE_LEAST = 0.1
_SNIPPET = 2.0  # of a text in which a snippet is


@dataclass(frozen=True, slots=True)
class Example:
    """One page. All arrays are by text, in the order of the page, those in its frame left out.

    `features` has shape (texts, features); `labels` are 1 for main content, 0 for other text, or UNKNOWN; `weights` say
    how much a label counts; `characters` leave out white space. Of a page with a `truth`, `texts` has what they say and
    `whole` what is kept where the main content is not told; snippets that the page does not have are gone from `truth`.
    """

    domain: str
    features: NDArray[np.float32]
    labels: NDArray[np.int8]
    weights: NDArray[np.float64]
    characters: NDArray[np.int32]
    truth: Truth | None
    texts: tuple[str, ...]
    whole: str


def make_example(page: Page, truth: Truth | None) -> Example | None:
    """A page as it is learnt from, None for one that extraction refuses."""
    try:
        simplified = simplify_page(page.html, page.url, ExtractionConfig(scope="page"))
    except PageRejected:
        return None
    tree = simplified.tree
    rows, features = main_features(tree)
    values = {row: value for row, value in enumerate(tree.values) if isinstance(value, str)}
    texts = tuple(values[row] for row in rows.tolist())
    labels, weights = np.full(len(rows), UNKNOWN, np.int8), np.zeros(len(rows))
    if truth is not None:
        truth = _on_the_page(truth, page.html)
    if truth is not None and truth.article is not None:
        _label_by_article(truth.article, list(values), list(values.values()), rows, labels, weights)
    elif truth is not None:
        _label_by_snippets(truth, texts, labels, weights)
    kept = simplified.kept.rows
    return Example(
        domain=domain_of(page.url),
        features=features,
        labels=labels,
        weights=weights,
        characters=tree.rows[rows, CHARS],
        truth=truth,
        texts=texts if truth else (),
        whole="\n\n".join(text for row, text in values.items() if kept[row]) if truth else "",
    )


def _on_the_page(truth: Truth, html: str) -> Truth:
    """Without the snippets that are nowhere in the page's text: no extraction could find them, and any avoids them."""
    if not truth.wanted and not truth.unwanted:
        return truth
    parser = LexborHTMLParser(html)
    parser.strip_tags(["script", "style", "template"])
    page = SearchedText(parser.root.text(separator=" ") if parser.root else "")
    return replace(
        truth,
        wanted=tuple(filter(page.has, truth.wanted)),
        unwanted=tuple(filter(page.has, truth.unwanted)),
    )


Labels = NDArray[np.int8]
Weights = NDArray[np.float64]


def _label_by_article(
    article: str, all_rows: list[int], all_texts: list[str], rows: NDArray[np.int64], labels: Labels, weights: Weights
) -> None:
    """Texts most of whose words are in the article are content, and the others are not.

    The whole page is compared, its frame too: what is there may be taken for the article's, and must not push it aside.
    """
    found = shares_in(article, all_texts)
    if found is None:
        return
    shares = dict(zip(all_rows, found.tolist(), strict=True))
    lengths = dict(zip(all_rows, map(len, all_texts), strict=True))
    own = np.array([lengths[row] for row in rows.tolist()], np.int64)
    labels[:] = [shares[row] > 0.5 for row in rows.tolist()]
    content = own[labels == 1].sum() + _ARTICLE_LINE
    weights[:] = np.minimum(_ARTICLE_MOST, _ARTICLE * (own + _LINE) / content) + _ARTICLE_LEAST


def _label_by_snippets(truth: Truth, texts: tuple[str, ...], labels: Labels, weights: Weights) -> None:
    """A text with an unwanted snippet is no content; the one text with a wanted snippet is."""
    searched = [SearchedText(text) for text in texts]
    for label, snippets in ((0, truth.unwanted), (1, truth.wanted)):
        for snippet in snippets:
            has = [number for number, text in enumerate(searched) if text.has(snippet)]
            if label == 0 or len(has) == 1:
                labels[has], weights[has] = label, _SNIPPET
