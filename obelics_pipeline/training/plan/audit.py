"""An audit of a plan, counted from its rows: where every token went, how often, and how evenly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from obelics_pipeline.training.plan.rows import Rows
from obelics_pipeline.training.plan.spans import Flags, Integers

PARTLY = "beyond_share"  # the reason of what a share, or the plan's tokens, had no room for


def ledger(
    n_tokens: Integers,
    reason: Integers,
    reasons: Sequence[str | None],
    rows: Rows,
    held_out: Rows,
    gone: Flags,
    partly: str = PARTLY,
) -> dict[str, Any]:
    """Documents and tokens: in = planned + held out + left out, by reason. `gone`: those that `without` names.

    Tokens are counted once, however often they are trained on; `partly` is the reason of those that are not there
    though others of their document are. Raises ValueError where one is unaccounted for.
    """
    planned, held = covered(rows, len(n_tokens)), covered(held_out, len(n_tokens))
    left = n_tokens - planned - held
    documents: dict[str, int] = {}
    tokens: dict[str, int] = {}
    out = (planned == 0) & (held == 0)
    for number, name in enumerate(reasons):
        which = (reason == number) & (left > 0)
        if name is None:
            for part, by in ((which & gone, "without"), (which & ~gone, partly)):
                _count(tokens, by, int(left[part].sum()))
        else:
            _count(documents, name, int((which & out).sum()))
            _count(tokens, name, int(left[which].sum()))
    whole = {
        "documents": _book(len(n_tokens), int((planned > 0).sum()), int((held > 0).sum()), documents),
        "tokens": _book(int(n_tokens.sum()), int(planned.sum()), int(held.sum()), tokens),
    }
    for noun, book in whole.items():
        if book["dropped"] or bool((left < 0).any()):
            raise ValueError(f"the ledger of {noun} does not balance: {book}")
    return whole


def _count(counts: dict[str, int], name: str, n: int) -> None:
    if n:
        counts[name] = counts.get(name, 0) + n


def _book(entered: int, planned: int, held: int, left: dict[str, int]) -> dict[str, Any]:
    dropped = entered - planned - held - sum(left.values())
    ordered = dict(sorted(left.items()))
    return {"in": entered, "planned": planned, "held_out": held, "left_out": ordered, "dropped": dropped}


def covered(rows: Rows, n_documents: int) -> Integers:
    """Tokens of each document that stand in some row."""
    order = rows.by_span()
    document, start = rows.spans.document[order], rows.spans.token_start[order]
    new = np.append(True, (np.diff(document) != 0) | (np.diff(start) != 0))[: len(order)]
    length = (rows.spans.token_stop - rows.spans.token_start)[order]
    counts = np.bincount(document[new], length[new], n_documents)
    return counts.astype(np.int64)


def passes_of(rows: Rows) -> dict[str, int]:
    """Documents by how often their beginning is in the order."""
    first = rows.spans.document[rows.spans.token_start == 0]
    counts = np.bincount(first)
    found = np.bincount(counts[counts > 0]) if len(first) else np.zeros(0, np.int64)
    return {str(n): int(documents) for n, documents in enumerate(found.tolist()) if documents}


def least_gap(rows: Rows) -> int | None:
    """Rows between two passes over the same tokens, at the least; None where nothing comes twice."""
    order = rows.by_span()
    document, start = rows.spans.document[order], rows.spans.token_start[order]
    same = (np.diff(document) == 0) & (np.diff(start) == 0)
    gaps = np.diff(rows.row_of_span[order])[same]
    return int(gaps.min()) if len(gaps) else None


def images_per_1000_tokens(rows: Rows, rows_per_step: int) -> dict[str, float]:
    """Over whole steps: the mean, and the spread of the steps about it."""
    whole = len(rows) // rows_per_step * rows_per_step
    if not whole:
        return {}
    tokens, images = (x[:whole].reshape(-1, rows_per_step).sum(1) for x in (rows.n_tokens, rows.n_images))
    ratio = images / np.maximum(tokens, 1) * 1000
    return {
        "mean": round(float(ratio.mean()), 6),
        "least": round(float(ratio.min()), 6),
        "most": round(float(ratio.max()), 6),
        "deviation": round(float(ratio.std()), 6),
    }


def format_datasets(
    names: Sequence[str],
    dataset: Integers,
    n_tokens: Integers,
    n_images: Integers,
    trained: Flags,
    rows: Rows,
    wishes: Sequence[dict[str, Any]],
) -> list[dict[str, Any]]:
    """The entry of plan.json for each data set. `trained`: number of distinct documents in its rows."""
    of_row, of_span = rows.dataset, dataset[rows.spans.document]
    laid_out = rows.spans.token_stop - rows.spans.token_start
    whole = int(laid_out.sum())
    out = []
    for number, (name, wish) in enumerate(zip(names, wishes, strict=True)):
        mine = trained & (dataset == number)
        once, tokens = int(n_tokens[mine].sum()), int(laid_out[of_span == number].sum())
        out.append(
            {
                "name": name,
                "documents": int(mine.sum()),
                "document_tokens": once,
                "document_images": int(n_images[mine].sum()),
                "rows": int((of_row == number).sum()),
                "tokens": tokens,
                "images": int(rows.n_images[of_row == number].sum()),
                "share": round(tokens / whole, 9) if whole else 0.0,
                "epochs": round(tokens / once, 9) if once else 0.0,
                **wish,
            }
        )
    return out


def audit(rows: Rows, held_out: Rows, sequence_tokens: int, rows_per_step: int) -> dict[str, Any]:
    """Sums over the order of training."""
    tokens = int(rows.n_tokens.sum())
    room = len(rows) * sequence_tokens
    return {
        "rows": len(rows),
        "spans": len(rows.spans),
        "tokens": tokens,
        "images": int(rows.n_images.sum()),
        "padding_share": round(1 - tokens / room, 9) if room else 0.0,
        "carried_spans": int(rows.spans.carried.sum()),
        "cut_spans": int((rows.spans.token_start > 0).sum()),
        "passes": passes_of(rows),
        "least_rows_between_passes": least_gap(rows),
        "images_per_1000_tokens": images_per_1000_tokens(rows, rows_per_step),
        "rows_of_last_step": len(rows) - max(0, -(-len(rows) // rows_per_step) - 1) * rows_per_step,
        "held_out_rows": len(held_out),
        "held_out_tokens": int(held_out.n_tokens.sum()),
    }
