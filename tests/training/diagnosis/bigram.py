"""A model of which word follows which, really trained step by step, on a language that was made up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.training.diagnosis.sightings import Sightings

WORDS, STEPS, BATCH, RATE = 128, 24, 12, 6.0
POOL, LONGEST, SHORTEST = 1500, 320, 24
KINDS = ("random words", "one word", "another language", "escapes", "shuffled")
ESCAPE, OTHER = 0, 30  # the word that stands for an escape; the first of the words of the other language
Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Trial:
    """What a run noted of its documents, which of them was planted, in which step, and the loss of each step."""

    seen: Sightings
    planted: int
    step: int
    losses: list[float]


class Language:
    """Words follow each other with chances that are the language's own; texts have topics, and are clear or not."""

    def __init__(self, seed: int) -> None:
        chance = np.random.default_rng(seed)
        self.mix = chance.gumbel(0, 1.9, (WORDS, WORDS))
        other = chance.gumbel(0, 1.9, (WORDS, WORDS))
        self.mix[:, :OTHER] -= 4.0  # rare here
        other[:, OTHER:] -= 6.0
        self.topics = chance.normal(0, 0.7, (6, WORDS))
        self.pool = self._texts(self.mix, chance, POOL)
        self.others = self._texts(other, chance, 40)

    def _texts(self, table: NDArray[np.float64], chance: np.random.Generator, n: int) -> Ids:
        """So many texts of the longest length, a word of each at a time."""
        topics, clear = self.topics[chance.integers(6, size=n)], chance.uniform(0.75, 1.25, (n, 1))
        found = np.zeros((n, LONGEST), np.int64)
        found[:, 0] = chance.integers(OTHER, WORDS, n)
        for i in range(1, LONGEST):
            found[:, i] = (clear * (table[found[:, i - 1]] + topics) + chance.gumbel(size=(n, WORDS))).argmax(axis=1)
        return found

    def text(self, chance: np.random.Generator, n: int) -> Ids:
        return self.pool[chance.integers(len(self.pool)), :n]

    def planted(self, kind: str, chance: np.random.Generator, n: int) -> Ids:
        if kind == "random words":
            return chance.integers(0, WORDS, n)
        if kind == "one word":
            return np.full(n, chance.integers(OTHER, WORDS))
        if kind == "another language":
            return self.others[chance.integers(len(self.others)), :n]
        text = self.text(chance, n)
        if kind == "escapes":
            return np.insert(text, np.arange(0, n, 2), ESCAPE)[:n]
        return chance.permutation(text)


class Bigram:
    """Logits of the next word by the word before."""

    def __init__(self) -> None:
        self.table = np.zeros((WORDS, WORDS))

    def step(self, texts: list[Ids], rate: float = RATE) -> list[tuple[int, float, float, float]]:
        """One update; targets, loss, el2n and log z of each text, as they were before it."""
        told, gradient = [], np.zeros_like(self.table)
        total = sum(len(text) - 1 for text in texts)
        for text in texts:
            before, after = text[:-1], text[1:]
            logits = self.table[before]
            log_z = np.log(np.exp(logits).sum(axis=1))
            p = np.exp(logits - log_z[:, None])
            right = p[np.arange(len(after)), after]
            told.append((len(after), -np.log(right).sum(), ((p**2).sum(axis=1) - 2 * right + 1).sum(), log_z.sum()))
            p[np.arange(len(after)), after] -= 1
            gradient += np.eye(WORDS)[before].T @ p / total
        self.table -= rate * WORDS / 4 * gradient
        return told


def trained(language: Language, seed: int, steps: int = 250) -> Bigram:
    model, chance = Bigram(), np.random.default_rng(seed)
    for _ in range(steps):
        model.step([language.text(chance, 120) for _ in range(BATCH)])
    return model


def trial(language: Language, model: Bigram, kind: str, seed: int) -> Trial:
    """Some steps from a trained model, with one planted document somewhere among them; the model stays as it was."""
    chance = np.random.default_rng(seed)
    at, place = int(chance.integers(6, STEPS - 4)), int(chance.integers(BATCH))
    now = Bigram()
    now.table = model.table.copy()
    rows, losses = [], []
    for step in range(1, STEPS + 1):
        lengths = np.exp(chance.uniform(np.log(SHORTEST), np.log(LONGEST), BATCH)).astype(int)
        texts = [language.text(chance, int(n)) for n in lengths]
        if step == at:
            texts[place] = language.planted(kind, chance, int(lengths[place]))
        told = now.step(texts)
        losses.append(sum(t[1] for t in told) / sum(t[0] for t in told))
        rows += [(step, (step - 1) * BATCH + i, *values) for i, values in enumerate(told)]
    step_, document, n, loss, el2n, log_z = (np.array(column) for column in zip(*rows, strict=True))
    seen = Sightings(step_, document, document, np.zeros(len(n), np.int64), n, loss / n, el2n / n, log_z / n)
    return Trial(seen, (at - 1) * BATCH + place, at, losses)
