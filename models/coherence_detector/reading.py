"""A text as the detector reads it: what is counted, and the traits of its sentences; compiled where that was built."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from obelics_pipeline.models.coherence_detector.counts import GRAMMAR, Counts, count
from obelics_pipeline.models.coherence_detector.sentences import WORDS, sentences_of, traits_of
from obelics_pipeline.models.coherence_detector.vectors import Vectors, Whole
from obelics_pipeline.models.word_index import Index

try:
    from obelics_pipeline.models.coherence_detector import _reading as compiled
except ImportError:
    COMPILED = False
else:
    COMPILED = True

FEWEST = 8  # sentences: of fewer there are too few orders


class Reading(NamedTuple):
    """Of the first `WORDS` words of a text."""

    counts: Counts
    traits: tuple[Whole, Whole]  # the numbers of those of all sentences, and where each sentence begins


def read(text: str, vectors: Vectors) -> Reading | None:
    """That of a text; None of fewer than `FEWEST` sentences."""
    return read_compiled(text, vectors) if COMPILED else read_in_python(text, vectors)


def read_in_python(text: str, vectors: Vectors) -> Reading | None:
    """The same, by Python: what both must return."""
    sentences = sentences_of(text)
    if len(sentences) < FEWEST:
        return None
    return Reading(count(sentences), vectors.read(traits_of(sentences)))


def read_compiled(text: str, vectors: Vectors) -> Reading | None:
    """The same, by the compiled part, where `COMPILED`."""
    found = compiled.read(text, vectors.index, _grammar(), WORDS, FEWEST)
    if found is None:
        return None
    counts, (traits, begins) = found
    return Reading(Counts(*counts), (np.frombuffer(traits, np.int64), np.frombuffer(begins, np.int64)))


@cache
def _grammar() -> Index:
    return Index.of(GRAMMAR)
