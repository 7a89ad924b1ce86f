"""What a document shares with others, as numbers that add up: how many of its keys are shared, and how."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.stages.site.passages import Keys, Passages
from obelics_pipeline.stages.site.sharing import SENTENCE, SITE, SKELETON, Shared

MIN_OTHERS = 2  # other pages of the site that have a skeleton which counts as repeated
MIN_SHARE = 0.02  # of the site's pages as well: on a large site every turn of phrase occurs twice

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Shares:
    """Counts of one document: its sentences and those that are borrowed, its skeletons and those that repeat."""

    sentences: int = 0
    borrowed: int = 0  # on other sites too, those of the site that has most of them left out
    skeletons: int = 0
    repeated: int = 0  # on several other pages of its site
    elsewhere: int = 0  # on the other site that has most of them, less those of sentences copied from one site


def shares_of(passages: Passages, site: int, shared: Shared) -> Shares:
    """The counts of a document of a site."""
    _, sites, _ = shared.look_up(SENTENCE, passages.sentences, site)
    sentences, borrowed = len(sites), int(borrowed_sentences(passages.sentences, site, shared).sum())
    skeletons = passages.skeletons if passages.skeletons is not None else np.zeros(0, np.uint64)
    elsewhere = int(skeletons_elsewhere(skeletons, site, shared).sum())
    copied = int((sites > 1).sum()) - borrowed
    return Shares(
        sentences,
        borrowed,
        len(skeletons),
        int(repeated_skeletons(skeletons, site, shared).sum()),
        max(elsewhere - len(skeletons) * copied // max(sentences, 1), 0),
    )


def borrowed_sentences(keys: Keys, site: int, shared: Shared) -> Flags:
    """Which sentences stand on other sites. Those of the site that shares most are left out: a page that has sentences
    of one other site quotes or copies it, as customers of a news agency do; one that has those of many is stitched.
    """
    _, sites, other = shared.look_up(SENTENCE, keys, site)
    found: Flags = sites > 1
    found &= other != _most(other[found])
    return found


def repeated_skeletons(keys: Keys, site: int, shared: Shared) -> Flags:
    """Which skeletons several other pages of the site have."""
    documents, _, _ = shared.look_up(SKELETON, keys, site)
    repeated: Flags = documents > max(MIN_OTHERS, MIN_SHARE * pages_of(site, shared))
    return repeated


def skeletons_elsewhere(keys: Keys, site: int, shared: Shared) -> Flags:
    """Which skeletons the other site has that shares most of them."""
    _, sites, other = shared.look_up(SKELETON, keys, site)
    found: Flags = sites > 1
    found &= other == _most(other[found])
    return found


def pages_of(site: int, shared: Shared) -> int:
    """The pages of a site that were compared."""
    documents, _, _ = shared.look_up(SITE, np.array([site], np.uint64), site)
    return int(documents[0])


def _most(sites: Keys) -> np.uint64:
    """The most frequent site, the least of several; 0 of none."""
    values, counts = np.unique(sites, return_counts=True)
    return np.uint64(values[counts.argmax()]) if len(values) else np.uint64(0)
