"""From documents and their lengths to rows in order: a pure function of the recipe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.training.plan.chance import key, permutation
from obelics_pipeline.training.plan.documents import HELD_OUT, Documents
from obelics_pipeline.training.plan.order import chunk_of, dealt, passes, taken, wanted_tokens
from obelics_pipeline.training.plan.pack import pack
from obelics_pipeline.training.plan.recipe import Recipe, exact
from obelics_pipeline.training.plan.rows import Rows, rows_of, together
from obelics_pipeline.training.plan.spans import Flags, Integers, cut


@dataclass(frozen=True, eq=False)
class _Packed:
    """The rows of a data set, each once, and where their blocks begin, with their number behind the last."""

    rows: Rows
    blocks: Integers


def ordered(recipe: Recipe, documents: Documents, gone: Flags) -> Rows:
    """The rows of training, in order, without the documents that are `gone`.

    The order is made as if none were gone; so rows that hold none of them are the same, in the same order, whatever is
    gone. Raises UserError where nothing is left to train on.
    """
    packed = [_packed(recipe, documents, number, name) for number, name in enumerate(recipe.datasets)]
    sequences = _sequences(recipe, packed)
    every = together([part.rows for part in packed])
    base = np.cumsum([0, *(len(part.rows) for part in packed)])
    numbers = [order + first for (order, _), first in zip(sequences, base, strict=False)]
    steps = -(-sum(len(n) for n in numbers) // recipe.rows_per_step)
    epochs = [len(n) / max(1, len(part.rows)) for n, part in zip(numbers, packed, strict=True)]
    owner, place = dealt(
        numbers,
        every.n_tokens,
        every.n_images,
        recipe.rows_per_step,
        chunk_of(steps, epochs),
        key(recipe.seed, "steps"),
    )
    which, pass_ = np.zeros(len(owner), np.int64), np.zeros(len(owner), np.int64)
    for number, (_, of_pass) in enumerate(sequences):
        mine = owner == number
        which[mine], pass_[mine] = numbers[number][place[mine]], of_pass[place[mine]]
    rows = every.take(which)
    rows = replace(rows, repeat=np.repeat(pass_, rows.n_spans)).without(gone, recipe.without_from_row)
    if not len(rows):
        raise UserError(f"recipe: no document is left to train on: {_why(documents)}; change keep, share or without")
    return rows


def _why(documents: Documents) -> str:
    if not len(documents):
        return "the runs have none"
    counts = np.bincount(documents.reason, minlength=len(documents.reasons)).tolist()
    told = [f"{n:,} {name}" for name, n in zip(documents.reasons, counts, strict=True) if n and name]
    return ", ".join(told) or "all are in the files of without"


def held_out_rows(recipe: Recipe, documents: Documents, gone: Flags) -> Rows:
    """The rows of the documents that are held out, in the order of the documents."""
    parts = []
    for number in range(len(recipe.datasets)):
        mine = np.flatnonzero(documents.left_out_for(HELD_OUT) & (documents.dataset == number) & ~gone)
        spans = cut(documents.lengths, mine.astype(np.int64), recipe.sequence_tokens, recipe.images_per_row)
        items = pack(spans.sizes, spans.images, np.array([len(spans)]), (recipe.sequence_tokens, recipe.images_per_row))
        parts.append(rows_of(sorted(items, key=lambda row: int(row[0])), spans, number))
    return together(parts)


def _packed(recipe: Recipe, documents: Documents, number: int, name: str) -> _Packed:
    """The rows of a data set: documents are shuffled, cut and packed, within blocks of shards."""
    mine = np.flatnonzero((documents.reason == 0) & (documents.dataset == number)).astype(np.int64)
    block = _blocks(recipe, documents, mine, name)
    shuffled = permutation(len(mine), key(recipe.seed, "documents", name))
    shuffled = shuffled[np.argsort(block[shuffled], kind="stable")]
    spans = cut(documents.lengths, mine[shuffled], recipe.sequence_tokens, recipe.images_per_row)
    n_blocks = int(block.max(initial=-1)) + 1
    of_document = np.zeros(len(documents), np.int64)
    of_document[mine] = block
    ends = np.cumsum(np.bincount(of_document[spans.document], minlength=n_blocks)).astype(np.int64)
    items = pack(spans.sizes, spans.images, ends, (recipe.sequence_tokens, recipe.images_per_row))
    rows = rows_of(items, spans, number)
    of_row = of_document[rows.spans.document[rows.first_span]] if len(rows) else np.zeros(0, np.int64)
    return _Packed(rows, np.append(0, np.cumsum(np.bincount(of_row, minlength=n_blocks))).astype(np.int64))


def _blocks(recipe: Recipe, documents: Documents, mine: Integers, name: str) -> Integers:
    """The block of each document: shards are shuffled, and so many in turn are a block."""
    if not recipe.shuffle_blocks or not len(mine):
        return np.zeros(len(mine), np.int64)
    codes = documents.shard[mine]
    shards, at = np.unique(codes, return_inverse=True)
    place = permutation(len(shards), key(recipe.seed, "shards", name))
    blocks: Integers = place[at] // recipe.shuffle_blocks
    return blocks


def _sequences(recipe: Recipe, packed: Sequence[_Packed]) -> list[tuple[Integers, Integers]]:
    """For each data set the rows of all its passes, in order, and the pass of each: as many as its share wants."""
    tokens = [part.rows.summed(part.rows.spans.token_stop - part.rows.spans.token_start) for part in packed]
    settings = list(recipe.datasets.items())
    sizes = [int(t.sum()) * dataset.repeat for t, (_, dataset) in zip(tokens, settings, strict=True)]
    weights = [None if dataset.weight is None else exact(dataset.weight) for _, dataset in settings]
    for (name, dataset), size in zip(settings, sizes, strict=True):
        if dataset.weight is not None and not size:
            raise UserError(f"recipe: datasets.{name}: no document is left, and its weight is {dataset.weight:g}")
    out = []
    for part, t, want, (name, dataset) in zip(
        packed, tokens, wanted_tokens(sizes, weights, recipe.tokens), settings, strict=True
    ):
        n = len(part.rows)
        found = passes(n, part.blocks, dataset.repeat, key(recipe.seed, "rows", name))
        order = np.concatenate(found)
        stop = taken(t[order], want)
        out.append((order[:stop], np.repeat(np.arange(dataset.repeat), n)[:stop]))
    return out
