"""Vectors that are learned from the order of sentences."""

from itertools import pairwise
from random import Random

import numpy as np

from obelics_pipeline.fit.coherence_detector.fit_vectors import fit_vectors
from obelics_pipeline.models.coherence_detector.comparison import centred_of
from obelics_pipeline.models.coherence_detector.sentences import sentences_of, traits_of

_WORDS = [f"{first}{last}" for first in ("ba", "de", "fi", "go") for last in ("lam", "mir", "nos", "ruk", "tes")]


def _text(seed: int) -> str:
    """Sentences that each begin with what the one before ended with."""
    random = Random(seed)
    walk = [random.choice(_WORDS)]
    while len(walk) < 40:
        walk.append(random.choice([word for word in _WORDS if word not in walk[-8:]]))
    return " ".join(f"{here.title()} came to {there}." for here, there in pairwise(walk))


def test_what_follows_what_is_learned() -> None:
    said: list[str] = []
    vectors = fit_vectors([_text(seed) for seed in range(200)], 100, 16, said.append)
    steps = []
    for seed in range(1000, 1020):
        follow = centred_of(vectors.follow(vectors.read(traits_of(sentences_of(_text(seed))))))
        steps.append(np.diagonal(follow, 1).mean() / follow.std())
    assert np.mean(steps) > 1
    assert len(said) == 6 and vectors.before.dtype == np.int8


def test_the_same_texts_give_the_same_vectors() -> None:
    first, second = (fit_vectors([_text(seed) for seed in range(40)], 50, 8, lambda _: None) for _ in range(2))
    assert first.traits == second.traits
    assert all(np.array_equal(one, second.arrays()[name]) for name, one in first.arrays().items())
