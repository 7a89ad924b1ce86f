"""Which texts of a page are its main content, and how good that choice is likely to be."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline import models
from obelics_pipeline.models.forest import SCALE, Forest
from obelics_pipeline.stages.extract import tree as tree_module
from obelics_pipeline.stages.extract.main_features import NAMES, main_features
from obelics_pipeline.stages.extract.main_features_pure import Floats, Ints
from obelics_pipeline.stages.extract.tree import CHARS, SimplifiedTree

MODEL = Path(models.__file__).parent / "main_content.json"

_PARTS = 1 << 12  # a probability is counted in parts of so many
# Of the highest expected F1: a text that is likelier is kept. Half of it is best for F1 (Lipton et al., 2014,
# arXiv:1402.1892); a little more leaves out more of what is not wanted, and F1 hardly falls (domains left out).
_SHARE = 0.55
# The same by the kind of the page: the cards of a shop's products and of a list of links, and the blocks of a service,
# are many and hard to tell, and so are the short lines of a reference, so that more is kept. Chosen on one half of the
# domains of WCXB, by models that had not seen the domain of the page, where F1 rises on the other half too.
_SHARES: dict[str | None, float] = {"collection": 0.35, "service": 0.35, "listing": 0.35, "documentation": 0.45}
_LINE = 20  # characters that every text has on top of its own: a line of a few words counts for something


@dataclass(frozen=True, slots=True)
class MainContent:
    """`kept` has one flag a row of the tree, True at the texts of the main content; `confidence` is in 0 … 1.

    The confidence is the F1 that is expected of the kept texts, by characters: it sees what was kept wrongly and what
    was left out. 0 if there is no text.
    """

    kept: NDArray[np.bool_]
    confidence: float


def find_main_content(
    tree: SimplifiedTree, judged: tuple[Ints, Floats] | None = None, kind: str | None = None
) -> MainContent:
    """Judge every text of a page outside its frame. A page without such a text has no main content.

    `judged` is what `main_features` says of the tree, where it is at hand; `kind` that of the page, where it is known.
    """
    texts, features = main_features(tree) if judged is None else judged
    kept = np.zeros(len(tree.rows), np.bool_)
    content, confidence = decide(_forest().log_odds(features), tree.rows[texts, CHARS], _SHARES.get(kind, _SHARE))
    kept[texts[content]] = True
    return MainContent(kept, confidence)


def probabilities(tree: SimplifiedTree) -> NDArray[np.float64]:
    """The probability of each row of a tree to be main content, for people to look at.

    NaN at rows without a prediction: elements, images, and texts of the page's frame.
    """
    texts, features = main_features(tree)
    found = np.full(len(tree.rows), np.nan)
    found[texts] = _parts(_forest().log_odds(features)) / _PARTS
    return found


def decide(
    log_odds: NDArray[np.int64], characters: NDArray[np.int32], share: float = _SHARE
) -> tuple[NDArray[np.bool_], float]:
    """Which texts of a page are kept, by their log odds in 1 / SCALE, and the F1 to expect of them.

    The highest F1 that can be expected decides: kept is what is likelier than `share` of it, and the likeliest text in
    any case. Where all is clear that is a text as likely as not; where little is, more is kept. Everything is counted
    in whole numbers, so every machine comes to the same.
    """
    if not len(log_odds):
        return np.zeros(0, np.bool_), 0.0
    if not tree_module.COMPILED:
        return decide_in_numpy(log_odds, characters, share)
    judged = np.ascontiguousarray(log_odds, np.int64), np.ascontiguousarray(characters, np.int32)
    flags, confidence = tree_module.compiled.decide(*judged, _LIMITS, _LINE, share)
    return np.frombuffer(flags, np.bool_), round(confidence, 3)


def decide_in_numpy(
    log_odds: NDArray[np.int64], characters: NDArray[np.int32], share: float = _SHARE
) -> tuple[NDArray[np.bool_], float]:
    """What `decide` says of at least one text, in NumPy."""
    content = np.zeros(len(log_odds), np.bool_)
    weights, parts = characters.astype(np.int64) + _LINE, _parts(log_odds)
    order = np.argsort(-log_odds, kind="stable")
    given = np.cumsum(weights[order])
    right = np.cumsum((weights * parts)[order])
    expected = 2 * right / (given * _PARTS + right[-1])
    content[:] = parts > share * expected.max() * _PARTS
    content[order[0]] = True
    return content, round(float(expected[content.sum() - 1]), 3)


def _parts(log_odds: NDArray[np.int64]) -> NDArray[np.int64]:
    """The probability of log odds in 1 / SCALE, in parts of _PARTS."""
    return np.searchsorted(_LIMITS, log_odds, side="right").astype(np.int64)


_BETWEEN = (np.arange(_PARTS) + 0.5) / _PARTS
_LIMITS = np.round(SCALE * np.log(_BETWEEN / (1 - _BETWEEN))).astype(np.int64)


@functools.cache
def _forest() -> Forest:
    forest = Forest.load(MODEL)
    if forest.features != NAMES:
        raise ValueError(f"{MODEL}: made for other features than this version computes")
    return forest
