"""Weak labels: what two extractors of other people's take for the main content of a page nobody has judged."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.config.extraction import ExtractionConfig
from obelics_pipeline.extract.page import simplify_page
from obelics_pipeline.fit.alignment import shares_in

_TEACHERS = ("trafilatura", "readability")


def missing_teachers() -> list[str]:
    """The modules that weak labels need and that are not installed."""
    return [name for name in _TEACHERS if find_spec(name) is None]


def weak_shares(html: str, url: str, texts: Sequence[str]) -> NDArray[np.float64] | None:
    """The mean of the shares of each text that the two extractors keep; None where one of them finds nothing."""
    total = np.zeros(len(texts))
    for article in (_by_trafilatura(html, url), _by_readability(html, url)):
        shares = shares_in(article, texts) if article else None
        if shares is None:
            return None
        total += shares
    return total / len(_TEACHERS)


def _by_trafilatura(html: str, url: str) -> str:
    from trafilatura import extract

    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    try:
        return extract(html, url=url, include_comments=False) or ""
    except Exception:  # whatever a page makes another's code raise, the page only goes without weak labels
        return ""


def _by_readability(html: str, url: str) -> str:
    from readability import Document

    logging.getLogger("readability").setLevel(logging.CRITICAL)
    try:
        summary = Document(html, url=url).summary()
        tree = simplify_page(summary, url, ExtractionConfig(scope="page")).tree
    except Exception:
        return ""
    return "\n\n".join(value for value in tree.values if isinstance(value, str))
