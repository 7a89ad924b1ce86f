"""What a signature costs, and how well near-duplicates are found with it.

    python benchmarks/minhash.py [--documents N] [--pairs N] [--repeats N]

Speed: made-up texts, shingled and signed. Quality: made-up pairs with words replaced, so that the true Jaccard
similarity of their shingles is about J; it is counted, not assumed. `met`: share a band's key. `found`: met, and the
sketches agree at the threshold. Bias and spread: of the estimate by the sketch, with what binomial sampling predicts.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import time
from collections.abc import Sequence

import numpy as np

from obelics_pipeline.core.config.dedup import TextConfig
from obelics_pipeline.core.minhash.signature import COMPILED, Signer

SETTINGS = TextConfig()
SIMILARITIES = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)


def vocabulary(draw: random.Random, size: int = 20_000) -> list[str]:
    """Made-up words."""
    return ["".join(draw.choices("etaoinshrdlucmfwypvbgkqjxz", k=draw.randint(2, 9))) for _ in range(size)]


def shingles(text: str) -> set[str]:
    """Runs of words, as one would cut them in Python."""
    words = text.lower().split()
    n = SETTINGS.shingle_words
    return {" ".join(words[i : i + n]) for i in range(max(1, len(words) - n + 1))}


def print_speed(texts: Sequence[str], repeats: int) -> None:
    """The median of some rounds, shingling counted."""
    signer = Signer(SETTINGS.shingle_words, SETTINGS.permutations, SETTINGS.bands, SETTINGS.rows)
    signer.sign(texts[:1])  # the table of characters is made
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        signer.sign(texts)
        seconds.append(time.process_time() - start)
    each = statistics.median(seconds) / len(texts)
    characters = statistics.mean(map(len, texts))
    print(f"{len(texts)} texts of {characters:.0f} characters on average; signatures are compiled: {COMPILED}")
    print(f"{each * 1000:.3f} ms of CPU time a document, {SETTINGS.permutations} functions")


def pair(draw: random.Random, words: Sequence[str], similarity: float) -> tuple[str, str]:
    """Two texts of 100 to 1,500 words; the second has so many words replaced that they are about that similar."""
    one = draw.choices(words, k=draw.randint(100, 1500))
    edits = len(one) * (1 - similarity) / (SETTINGS.shingle_words * (1 + similarity))
    other = list(one)
    for place in draw.sample(range(len(one)), max(1, round(edits))):
        other[place] = draw.choice(words)
    return " ".join(one), " ".join(other)


def jaccard(one: str, other: str) -> float:
    """The true similarity."""
    a, b = shingles(one), shingles(other)
    return len(a & b) / len(a | b)


class Quality:
    """How pairs fared."""

    def __init__(self, pairs: Sequence[tuple[str, str]]) -> None:
        self.true = np.array([jaccard(*both) for both in pairs])
        signer = Signer(SETTINGS.shingle_words, SETTINGS.permutations, SETTINGS.bands, SETTINGS.rows)
        signed = signer.sign([text for both in pairs for text in both])
        self.met = (signed.band_keys[::2] == signed.band_keys[1::2]).any(axis=1)
        differ = np.bitwise_count(signed.sketches[::2] ^ signed.sketches[1::2]).sum(axis=1, dtype=np.int64)
        self.estimate = 1 - 2 * differ / SETTINGS.permutations
        self.found = self.met & (self.estimate >= SETTINGS.threshold)


def print_quality(pairs: int) -> None:
    """One line per similarity, then recall and precision over an even mixture."""
    draw = random.Random(1)
    words = vocabulary(draw)
    s = SETTINGS
    print(f"{s.bands} bands of {s.rows} rows, sketch of {s.permutations} bits, threshold {s.threshold}")
    print("     J   true    met  curve  found     bias   spread  binomial")
    for similarity in SIMILARITIES:
        q = Quality([pair(draw, words, similarity) for _ in range(pairs)])
        curve = np.mean(1 - (1 - q.true**s.rows) ** s.bands)
        error = q.estimate - q.true
        binomial = math.sqrt(np.mean((1 - q.true**2) / s.permutations))
        print(
            f"{similarity:6.2f} {q.true.mean():6.3f} {q.met.mean():6.3f} {curve:6.3f} {q.found.mean():6.3f} "
            f"{error.mean():+8.4f} {error.std():8.4f} {binomial:9.4f}"
        )
    q = Quality([pair(draw, words, draw.uniform(0.5, 1)) for _ in range(4 * pairs)])
    for name, least in (("threshold", s.threshold), ("threshold + 0.05", s.threshold + 0.05)):
        print(f"recall {q.found[q.true >= least].mean():.3f} of pairs from {name} on")
    for name, least in (("threshold", s.threshold), ("threshold - 0.05", s.threshold - 0.05)):
        print(f"precision {(q.true[q.found] >= least).mean():.3f}: found pairs from {name} on")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=300)
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    draw = random.Random(2)
    words = vocabulary(draw)
    texts = [" ".join(draw.choices(words, k=962)) for _ in range(arguments.documents)]
    print_speed(texts, arguments.repeats)
    print_quality(arguments.pairs)


if __name__ == "__main__":
    main()
