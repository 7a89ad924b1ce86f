"""How fast documents become a plan, and how full its rows are: made-up documents with lengths like those of web pages.

    python benchmarks/planning.py [--documents N] [--tokens T] [--images I] [--repeat R]

Lengths in tokens are log-normal (median 493, mean 813: OBELICS has 815 in the mean), images Poisson, 2.5 in the mean as
in OBELICS. Counting tokens is not in it: that is the tokenizer's time. What is timed is all that follows, from lengths
to the files of the plan, on one core. Nothing is downloaded.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

from obelics_pipeline.plan.audit import audit, ledger
from obelics_pipeline.plan.build import held_out_rows, ordered
from obelics_pipeline.plan.chance import draws, key, words
from obelics_pipeline.plan.command import document_table
from obelics_pipeline.plan.documents import FIXED, HELD_OUT, KEY_OF_HELD_OUT, Documents
from obelics_pipeline.plan.form import write_plan
from obelics_pipeline.plan.plan_file import open_plan
from obelics_pipeline.plan.recipe import Recipe
from obelics_pipeline.plan.spans import Lengths

PER_SHARD = 5000  # documents of a shard


def made_up(n: int) -> Documents:
    """Documents of one data set, all in training but those held out."""
    chance = np.random.default_rng(0)
    n_tokens = np.maximum(16, chance.lognormal(6.2, 1.0, n)).astype(np.int64)
    n_images = np.minimum(chance.poisson(2.5, n), n_tokens // 8)
    first = np.append(0, np.cumsum(n_images)).astype(np.int64)
    owner = np.repeat(np.arange(n), n_images)
    inside = np.arange(len(owner)) - first[owner]
    step = (n_tokens - 2)[owner] / np.maximum(n_images, 1)[owner]
    marks = (1 + (inside + chance.random(len(owner)) * 0.9) * step).astype(np.int32)
    ids = pa.array(np.char.add("d", np.arange(n).astype(str)))
    numbers = pa.array(np.arange(n, dtype=np.int64))
    shard = pa.DictionaryArray.from_arrays(
        pa.array((np.arange(n) // PER_SHARD).astype(np.int32)),
        pa.array([f"s3://bucket/run/shards/shard-{i:06d}.tar" for i in range(-(-n // PER_SHARD))]),
    )
    is_number = ("offset", "length", "warc_record_offset", "warc_record_length")
    index = {name: shard if name == "shard" else numbers if name in is_number else ids for name in FIXED}
    content = np.stack([words(n, key(0, "a")), words(n, key(0, "b"))], axis=1)
    zeros = np.zeros(n, np.int64)
    return Documents(
        pa.table(index), zeros, Lengths(n_tokens, first, marks), zeros.astype(np.uint32), n_tokens * 4, content,
        zeros.copy(), [None],
    )  # fmt: skip


def main() -> None:
    """Print a line for each part of the work, and what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=1_000_000, metavar="N")
    parser.add_argument("--tokens", type=int, default=2048, metavar="T")
    parser.add_argument("--images", type=int, default=24, metavar="I")
    parser.add_argument("--repeat", type=int, default=1, metavar="R")
    arguments = parser.parse_args()
    recipe = Recipe.model_validate(
        {
            "datasets": {"web": {"runs": ["made-up"], "repeat": arguments.repeat}},
            "language_model": "none",
            "sequence_tokens": arguments.tokens,
            "images_per_row": arguments.images,
            "batch_tokens": 256 * arguments.tokens,
        }
    )
    documents = made_up(arguments.documents)
    gone = np.zeros(len(documents), np.bool_)
    documents.leave_out(draws(documents.content[:, 0], KEY_OF_HELD_OUT) < recipe.held_out, HELD_OUT)
    start = time.perf_counter()
    rows, held_out = ordered(recipe, documents, gone), held_out_rows(recipe, documents, gone)
    planned = time.perf_counter()
    sums = audit(rows, held_out, recipe.sequence_tokens, recipe.rows_per_step)
    book = ledger(documents.lengths.n_tokens, documents.reason, documents.reasons, rows, held_out, gone)
    counted = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        about = {"tokenizer": {}, "sequence_tokens": arguments.tokens, "images_per_row": arguments.images}
        about |= {"rows_per_step": recipe.rows_per_step, "datasets": [{"name": "web"}], "steps": 0}
        write_plan(Path(folder) / "plan", document_table(documents), rows, held_out, about)
        written = time.perf_counter()
        size = sum(path.stat().st_size for path in (Path(folder) / "plan").rglob("*.arrow"))
        plan = open_plan(Path(folder) / "plan")
        opened = time.perf_counter()
        places = np.random.default_rng(1).integers(0, plan.n_rows, 2000).tolist()
        for place in places:
            plan.row(place)
        read = time.perf_counter()
    n = arguments.documents
    print(f"order     {planned - start:8.2f} s  {n / (planned - start):12,.0f} documents/s")
    print(f"audit     {counted - planned:8.2f} s  {n / (counted - planned):12,.0f} documents/s")
    print(f"files     {written - counted:8.2f} s  {size / n:12.1f} bytes a document")
    print(f"opening   {opened - written:8.2f} s  every byte is hashed")
    print(f"a row     {(read - opened) / len(places) * 1e6:8.1f} us")
    print(f"fill      {1 - sums['padding_share']:8.4f}    goal 0.96; {sums['cut_spans']:,} more spans by cutting")
    print(f"dropped   {book['tokens']['dropped']:8d}    of {book['tokens']['in']:,} tokens")
    print(f"images    {sums['images_per_1000_tokens']} in 1,000 tokens, by step")
    print(f"passes    {sums['passes']}, rows between: {sums['least_rows_between_passes']} of {sums['rows']:,}")
    print(f"memory    {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:8.2f} GiB")


if __name__ == "__main__":
    main()
