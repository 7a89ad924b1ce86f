"""The domain of a machine's text that names none: that of the people whose words are most like its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.fit.chat_detector.texts import PEOPLE, TRUSTED, LabelledText
from obelics_pipeline.fit.chat_detector.word_weights import WordTable
from obelics_pipeline.models.chat_detector.word_habits import SLOTS


def with_domains(texts: Sequence[LabelledText], table: WordTable) -> list[LabelledText]:
    """The texts, those of machines without a domain with the nearest one of people's, if there is any.

    Near is a small angle between mean uses of words, where words that few texts use count more.
    """
    by_people = {one.domain for one in texts if one.generator == PEOPLE} - {"", TRUSTED}
    domains = sorted(by_people)
    if not domains or all(one.domain or one.generator == PEOPLE for one in texts):
        return list(texts)
    rows = table.rows()
    rarity = np.log(len(texts) / np.maximum(1, np.bincount(table.slots, minlength=SLOTS)))
    uses = [_mean_use(texts, table, rows, domain) * rarity for domain in domains]
    near = np.column_stack([_likeness(table, rows, use / _length(use) * rarity) for use in uses])
    nearest = near.argmax(axis=1)
    return [
        replace(one, domain=domains[nearest[row]]) if one.generator != PEOPLE and not one.domain else one
        for row, one in enumerate(texts)
    ]


def _mean_use(
    texts: Sequence[LabelledText], table: WordTable, rows: NDArray[np.int64], domain: str
) -> NDArray[np.float64]:
    """Of each slot, by people of a domain."""
    of_domain = np.array([one.generator == PEOPLE and one.domain == domain for one in texts], np.float64)
    share = of_domain / of_domain.sum()
    use: NDArray[np.float64] = np.bincount(table.slots, table.values * share[rows], SLOTS).astype(np.float64)
    return use


def _likeness(table: WordTable, rows: NDArray[np.int64], use: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of each text with a use of words: a cosine, up to a factor that is the same for all uses."""
    likeness: NDArray[np.float64] = np.bincount(rows, table.values * use[table.slots], len(table)).astype(np.float64)
    return likeness


def _length(use: NDArray[np.float64]) -> float:
    return max(float(np.sqrt((use * use).sum())), 1e-300)
