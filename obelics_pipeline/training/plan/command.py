"""`obelics plan`: a recipe in, the folder of a plan out, and what is in it said in a dozen lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from obelics_pipeline.training.plan.audit import PARTLY, audit, covered, format_datasets, ledger
from obelics_pipeline.training.plan.build import held_out_rows, ordered
from obelics_pipeline.training.plan.counts import count_all
from obelics_pipeline.training.plan.documents import (
    FIXED,
    HELD_OUT,
    Documents,
    documents_of,
    listed,
    read_run,
    refuse_equal_content,
)
from obelics_pipeline.training.plan.form import DOCUMENT_COLUMNS, claim, write_plan
from obelics_pipeline.training.plan.recipe import Recipe, load_recipe
from obelics_pipeline.training.plan.rows import Rows
from obelics_pipeline.training.plan.spans import Flags
from obelics_pipeline.training.plan.tokenizer import Tokenizer, open_tokenizer

KEPT = "token-counts"  # the folder beside a plan where counts are kept for the next
WITHOUT = "without"


def plan(
    recipe_path: str,
    output: Path,
    *,
    workers: int = 1,
    without: Sequence[str] = (),
    overrides: Sequence[str] = (),
    counts: Path | None = None,
    say: Callable[[str], None] = print,
) -> dict[str, Any]:
    """Make the plan of a recipe; returns plan.json. Raises UserError, in one line; then nothing is changed."""
    recipe = load_recipe(recipe_path, overrides)
    recipe = recipe.model_copy(update={"without": (*recipe.without, *without)})
    about = make_plan(recipe, output, workers=workers, counts=counts, say=say)
    for line in format_summary(about):
        say(line)
    say(f"plan {about['id'][:12]} -> {output}")
    return about


def make_plan(
    recipe: Recipe,
    output: Path,
    *,
    workers: int = 1,
    counts: Path | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """The plan of a recipe in a folder, counts of tokens kept in another (default: beside it); returns plan.json."""
    kept = counts or output.resolve().parent / KEPT
    tokenizer = open_tokenizer(Path(recipe.language_model))
    folder = kept / tokenizer.sha256[:16]
    runs = [[read_run(name, d, run, folder) for run in d.runs] for name, d in recipe.datasets.items()]
    claim(output)
    count_all(tokenizer, [task for of_dataset in runs for run in of_dataset for task in run.tasks], workers, say)
    documents = documents_of(recipe, runs)
    gone, strangers = _gone(recipe, documents)
    if strangers:
        say(f"without: {len(strangers):,} lines name no document of the recipe, e.g. {strangers[0]}")
    if not recipe.allow_equal_content:
        refuse_equal_content(documents, gone, list(recipe.datasets))
    rows, held_out = ordered(recipe, documents, gone), held_out_rows(recipe, documents, gone)
    return write_plan(output, *_finished(recipe, tokenizer, documents, gone, rows, held_out))


def _gone(recipe: Recipe, documents: Documents) -> tuple[Flags, list[str]]:
    """The documents that files leave out, and the lines of the files that name none."""
    gone, strangers = listed(documents, recipe.without)
    for number, dataset in enumerate(recipe.datasets.values()):
        more, unknown = listed(documents, dataset.without, number)
        gone, strangers = gone | more, strangers + unknown
    return gone, strangers


def _finished(
    recipe: Recipe, tokenizer: Tokenizer, documents: Documents, gone: Flags, rows: Rows, held_out: Rows
) -> tuple[pa.Table, Rows, Rows, dict[str, Any]]:
    """What is written: the table of documents with their reasons, the rows, and what plan.json says."""
    lengths, names = documents.lengths, list(recipe.datasets)
    trained = (documents.reason == 0) & ~gone
    absent = (covered(rows, len(documents)) == 0) & (covered(held_out, len(documents)) == 0)
    documents.reason[gone & absent & documents.left_out_for(HELD_OUT)] = 0
    documents.leave_out(gone & absent, WITHOUT)
    documents.leave_out(absent, PARTLY)
    book = ledger(lengths.n_tokens, documents.reason, documents.reasons, rows, held_out, gone)
    wishes = [{"weight": d.weight, "repeat": d.repeat} for d in recipe.datasets.values()]
    about = {
        "recipe": recipe.model_dump(mode="json"),
        "tokenizer": tokenizer.about(),
        "sequence_tokens": recipe.sequence_tokens,
        "images_per_row": recipe.images_per_row,
        "rows_per_step": recipe.rows_per_step,
        "steps": -(-len(rows) // recipe.rows_per_step),
        "rows": len(rows),
        "datasets": format_datasets(
            names, documents.dataset, lengths.n_tokens, lengths.n_images, trained, rows, wishes
        ),
        "ledger": book,
        "audit": audit(rows, held_out, recipe.sequence_tokens, recipe.rows_per_step),
    }
    return document_table(documents), rows, held_out, about


def document_table(documents: Documents) -> pa.Table:
    """The columns of documents.arrow."""
    reasons = pa.array(documents.reasons, pa.string())
    more = {
        "dataset": documents.dataset.astype(np.int16),
        "n_tokens": documents.lengths.n_tokens.astype(np.int32),
        "n_images": documents.lengths.n_images.astype(np.int32),
        "ids_crc32": documents.ids_crc32,
        "n_target_bytes": documents.n_target_bytes.astype(np.int32),
        "reason": reasons.take(pa.array(documents.reason)),
    }
    columns = {name: documents.index[name] for name in FIXED} | more
    return pa.table({name: columns[name] for name in DOCUMENT_COLUMNS.names})


def format_summary(about: Mapping[str, Any]) -> Iterator[str]:
    """A plan's audit for a person, a line each."""
    book, sums = about["ledger"], about["audit"]
    for noun in ("documents", "tokens"):
        n = book[noun]
        left = ", ".join(f"{name} {count:,}" for name, count in n["left_out"].items()) or "nothing"
        yield (
            f"{noun:<10}{n['in']:>15,} in = {n['planned']:,} planned + {n['held_out']:,} held out + left out ({left}); "
            f"dropped {n['dropped']}"
        )
    for dataset in about["datasets"]:
        wish = "by size" if dataset["weight"] is None else f"asked {dataset['weight']:.4g}"
        yield (
            f"{dataset['name']:<10}{dataset['tokens']:>15,} tokens, share {dataset['share']:.4f} ({wish}), "
            f"{dataset['epochs']:.3f} passes over {dataset['documents']:,} documents, {dataset['images']:,} images"
        )
    last = sums["rows_of_last_step"]
    short = f", the last of {last}" if last != about["rows_per_step"] else ""
    size = f"{about['rows_per_step']:,} rows of {about['sequence_tokens']:,} tokens"
    yield f"{'steps':<10}{about['steps']:>15,} of {size}{short}"
    cut = (
        f"{sums['cut_spans']:,} more spans because documents were cut, {sums['carried_spans']:,} with an image carried"
    )
    yield f"{'rows':<10}{sums['rows']:>15,}, {sums['padding_share']:.2%} padding; {cut}"
    passes = ", ".join(f"{n} x {count:,}" for n, count in sums["passes"].items())
    gap = sums["least_rows_between_passes"]
    apart = "" if gap is None else f"; the same tokens come again after {gap:,} rows at the least"
    yield f"{'passes':<10}documents by passes: {passes}{apart}"
    ratio = sums["images_per_1000_tokens"]
    if ratio:
        spread = f"{ratio['least']:.3f} to {ratio['most']:.3f}, deviation {ratio['deviation']:.3f}"
        yield f"{'images':<10}{ratio['mean']:.3f} in 1,000 tokens; by step {spread}"
    yield f"{'held out':<10}{sums['held_out_rows']:>15,} rows, {sums['held_out_tokens']:,} tokens, for evaluation"
    yield f"{'tokenizer':<10}{about['tokenizer']['path']} ({about['tokenizer']['sha256'][:12]})"
