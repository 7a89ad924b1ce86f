"""What a map of N documents costs, and whether what is near in it is alike.

    python benchmarks/corpus_map.py [--documents N] [--texts FILE.jsonl.gz … [--characters N]] [--threads N]

Documents are made up: 300 words by Zipf's law from 50,000 that every topic has, a quarter of them from 200 that the
topic has alone; there are 200 topics of unequal size. With `--texts`, they are pieces of real ones, of so many
characters. Printed are the CPU seconds and the wall time of each step, the peak of memory, and of how good the map is:

* trustworthiness (Venna and Kaski 2001; scikit-learn's, 10 neighbours, of 5,000 documents by chance): 1 where all that
  is near in the map is near in the 50 dimensions;
* how many of the ten nearest of 2,000 documents in the 50 dimensions are among their 10, and their 100, nearest in the
  map;
* of made-up documents, how many of the ten nearest in the map are of the same topic.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from sklearn.manifold import trustworthiness
from threadpoolctl import threadpool_limits

from obelics_pipeline.corpus_map.cells import cut, label
from obelics_pipeline.corpus_map.layout import lay_out
from obelics_pipeline.corpus_map.vectors import to_vectors
from obelics_pipeline.corpus_map.words import count_words
from obelics_pipeline.fit.texts import text_files

TOPICS, COMMON, OWN, WORDS = 200, 50_000, 200, 300
NEIGHBOURS = 10

Floats = NDArray[np.float32]


def topics_of(n: int) -> NDArray[np.int64]:
    """The topic of each made-up document: the first topics have most."""
    weights = 1 / np.sqrt(np.arange(1, TOPICS + 1))
    return np.random.default_rng(1).choice(TOPICS, n, p=weights / weights.sum())


def made_texts(topics: Sequence[int]) -> Iterator[str]:
    """A document for each topic, always the same."""
    random = np.random.default_rng(2)
    common, own = (np.cumsum(1 / np.arange(1, n + 1)) for n in (COMMON, OWN))
    for topic in topics:
        of_all = np.searchsorted(common, random.random(WORDS) * common[-1])
        of_topic = COMMON + topic * OWN + np.searchsorted(own, random.random(WORDS) * own[-1])
        chosen = np.where(random.random(WORDS) < 0.25, of_topic, of_all)
        yield " ".join(map(_word, chosen.tolist()))


def _word(number: int) -> str:
    """Letters alone: numbers are no words."""
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))


def real_texts(patterns: Sequence[str], characters: int) -> Iterator[str]:
    """Pieces of the texts of files."""
    for file in text_files(patterns):
        for found in file.texts():
            for start in range(0, len(found.text), characters):
                yield found.text[start : start + characters]


@contextmanager
def timed(name: str) -> Iterator[None]:
    """Print what a step costs."""
    wall, cpu = time.perf_counter(), time.process_time()
    yield
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    spent = f"CPU {time.process_time() - cpu:7.1f} s, wall {time.perf_counter() - wall:7.1f} s"
    print(f"{name:<11} {spent}, peak {peak:,} MiB", flush=True)


def nearest_of(rows: NDArray[np.int64], places: Floats, k: int) -> NDArray[np.int64]:
    """The k nearest others of some of the rows."""
    squares = (places**2).sum(axis=1)
    apart = squares[None, :] - 2 * places[rows] @ places.T  # but for what is the same in a row
    apart[np.arange(len(rows)), rows] = np.inf
    return np.argpartition(apart, k, axis=1)[:, :k]


def kept(before: NDArray[np.int64], after: NDArray[np.int64]) -> float:
    """The share of the one that is in the other, row by row."""
    return float((before[:, :, None] == after[:, None, :]).any(axis=2).mean())


def run(n: int, texts: Iterator[str], topics: NDArray[np.int64] | None, threads: int) -> None:
    """Make the map, a step at a time, and measure it."""
    quiet = lambda *_: None  # noqa: E731
    with threadpool_limits(1), timed("all"):
        with timed("words"):
            words = count_words(islice(texts, n))
        print(f"{words.documents:,} documents, {len(words.vocabulary):,} words, {len(words.columns):,} entries")
        with timed("vectors"):
            vectors = to_vectors(words)
        with timed("layout"):
            points = lay_out(vectors, threads, quiet, quiet)
        with timed("cells"):
            cells = cut(points)
            labels = list(label(words, ["en"] * words.documents, points, cells))
    for found in sorted(labels, key=lambda found: -found.documents)[:5]:
        print(f"  {found.documents:,}  {' '.join(found.words)}")
    random = np.random.default_rng(0)
    some = random.choice(len(points), min(5000, len(points)), replace=False)
    rows = some[:2000]
    near, close = nearest_of(rows, vectors, NEIGHBOURS), nearest_of(rows, points, NEIGHBOURS)
    print(f"trustworthiness {trustworthiness(vectors[some], points[some], n_neighbors=NEIGHBOURS):.4f}")
    print(f"of the 10 nearest, {kept(near, close):.3f} in 10, {kept(near, nearest_of(rows, points, 100)):.3f} in 100")
    if topics is not None:
        print(
            f"of the 10 nearest in the map {(topics[close] == topics[rows][:, None]).mean():.3f} are of the same topic"
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ignored", nargs="*", help="for make bench")
    parser.add_argument("--documents", type=int, default=5000)
    parser.add_argument("--texts", nargs="+", default=[])
    parser.add_argument("--characters", type=int, default=2000)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.texts:
        run(arguments.documents, real_texts(arguments.texts, arguments.characters), None, arguments.threads)
    else:
        topics = topics_of(arguments.documents)
        run(arguments.documents, made_texts(topics.tolist()), topics, arguments.threads)


if __name__ == "__main__":
    main()
