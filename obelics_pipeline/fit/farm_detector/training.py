"""Learning to see what is wrong with a text, from documents made while one learns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from random import Random

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional
from torch.utils.data import DataLoader, IterableDataset

from obelics_pipeline.fit.farm_detector.families import Families, Made
from obelics_pipeline.fit.farm_detector.trainable import TrainableNetwork
from obelics_pipeline.fit.say import Say
from obelics_pipeline.models.farm_detector.network import HEADS
from obelics_pipeline.models.farm_detector.tokens import FIRST_WORD, UNKNOWN, Vocabulary, find_tokens, is_word, lowered

WORDS = 24_000  # of the vocabulary, at most
_SEEN = 4  # times that a word must have been seen to be in it
BATCH = 32  # documents, every other one of them honest
LENGTH = 384  # tokens of a document that are looked at in a step
_RATE, _WARM_UP, _LAST = 2e-3, 100, 0.02  # of learning; steps until it is reached; share of it in the end
_DROPPED = 0.05  # share of activations
_FORGOTTEN, _NEVER_FORGOTTEN = 0.04, 2000  # share of the words that are taken for unknown, but for the most frequent
_HEAD_WEIGHTS = (2.0, 2.0, 0.5)
_TOLD_EVERY = 100  # steps
_AHEAD = 4  # batches that are made before they are wanted


def vocabulary_of(texts: Iterable[str], most: int = WORDS) -> Vocabulary:
    """The most frequent words and marks."""
    count: Counter[str] = Counter()
    for text in texts:
        count.update(lowered(token) for token in find_tokens(text) if is_word(token) or not token[0].isspace())
    usual = (word for word, seen in count.items() if seen >= _SEEN and not word[0].isdigit())
    return Vocabulary(sorted(usual, key=lambda word: (-count[word], word))[:most])


def train(
    families: Families, vocabulary: Vocabulary, steps: int, channels: int, threads: int, say: Say
) -> TrainableNetwork:
    """A network after so many steps. The same on one machine and number of threads."""
    torch.manual_seed(1)
    torch.set_num_threads(threads)
    network = TrainableNetwork(len(vocabulary), channels)
    optimizer = torch.optim.AdamW(network.parameters(), lr=_RATE, weight_decay=1e-4, betas=(0.9, 0.98))
    losses = np.zeros(len(HEADS))
    batches = DataLoader(
        _Batches(families, vocabulary, steps),
        batch_size=None,  # they are batches already
        num_workers=1,  # to make documents takes as long as to learn from them
        prefetch_factor=_AHEAD,
        multiprocessing_context="fork",  # the texts need not be copied
    )
    for step, (tokens, labels, there) in enumerate(batches):
        for group in optimizer.param_groups:
            group["lr"] = _RATE * min(1, (step + 1) / _WARM_UP) * max(_LAST, 1 - step / steps)
        found = network(tokens, there, _DROPPED)
        each = functional.binary_cross_entropy_with_logits(found, labels, reduction="none") * there[..., None]
        by_head = each.sum((0, 1)) / there.sum()
        optimizer.zero_grad()
        (by_head * torch.tensor(_HEAD_WEIGHTS)).sum().backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        losses += by_head.detach().numpy() / _TOLD_EVERY
        if (step + 1) % _TOLD_EVERY == 0:
            told = ", ".join(f"{head} {loss:.4f}" for head, loss in zip(HEADS, losses, strict=True))
            say(f"step {step + 1} of {steps}: loss {told}")
            losses[:] = 0
    network.eval()
    return network


class _Batches(IterableDataset):  # type: ignore[misc]  # PyTorch may be missing where types are checked
    """Batches of documents, made by another process: one, so that they are always the same."""

    def __init__(self, families: Families, vocabulary: Vocabulary, steps: int) -> None:
        self._arguments = families, vocabulary, steps

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        return _batches(*self._arguments)


def _batches(families: Families, vocabulary: Vocabulary, steps: int) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Tokens (documents, tokens, 3), labels (documents, tokens, heads), and where there are tokens."""
    random, forgetting = Random(1), np.random.default_rng(1)
    for _ in range(steps):
        made = [families.honest(random) if i % 2 else families.generated(random) for i in range(BATCH)]
        documents = [_window(read_marked(one, vocabulary), random) for one in made]
        length = max(len(tokens) for tokens, _ in documents)
        tokens = np.zeros((BATCH, length, 3), np.int64)
        labels = np.zeros((BATCH, length, len(HEADS)), np.float32)
        there = np.zeros((BATCH, length), np.float32)
        for row, (found, marks) in enumerate(documents):
            tokens[row, : len(found)], labels[row, : len(found)], there[row, : len(found)] = found, marks, 1
        forgotten = forgetting.random((BATCH, length)) < _FORGOTTEN
        words = tokens[..., 0]
        words[forgotten & (words >= FIRST_WORD + _NEVER_FORGOTTEN)] = UNKNOWN
        yield torch.from_numpy(tokens), torch.from_numpy(labels), torch.from_numpy(there)


def read_marked(made: Made, vocabulary: Vocabulary) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Tokens of a made document, and what each head should say of them."""
    tokens: list[str] = []
    marks: list[tuple[bool, bool, bool]] = []
    junction = False
    for piece in made.text:
        junction = junction or piece.junction  # of the next token: a piece of white space has none
        for token in find_tokens(piece.text):
            tokens.append(token)
            marks.append((piece.replaced, junction, made.family is not None))
            junction = False
    return vocabulary.read(tokens).rows, np.array(marks, np.float32).reshape(-1, len(HEADS))


def _window(
    document: tuple[NDArray[np.int32], NDArray[np.float32]], random: Random
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    tokens, marks = document
    begin = random.randrange(max(1, len(tokens) - LENGTH + 1))
    return tokens[begin : begin + LENGTH], marks[begin : begin + LENGTH]
