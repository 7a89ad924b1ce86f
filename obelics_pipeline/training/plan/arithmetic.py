"""Plans made of plans: slices, one after the other; and the orders of the chronicles.

The chronicles of a model of 80 billion parameters asked what restarts cost, and what repetition, with four parts of
one order: all in one go (1234), one run after the other (1_2_3_4), and the first part four times (1_1_1_1). As files
the first two are the same rows: a restart changes nothing, and the third shows repetition alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.training.plan.audit import audit, covered, format_datasets, ledger
from obelics_pipeline.training.plan.form import HELD_OUT, SPANS, write_plan
from obelics_pipeline.training.plan.plan_file import Plan, open_plan
from obelics_pipeline.training.plan.rows import Rows, together
from obelics_pipeline.training.plan.spans import Flags, Integers, Spans

PARTS = 4
SAME = ("tokenizer", "sequence_tokens", "images_per_row", "rows_per_step")  # of plans that are joined
NOT_HERE = "not_in_this_part"


@dataclass(frozen=True)
class Part:
    """Rows [start, stop) of a plan; `stop` None is its end."""

    plan: Plan
    start: int = 0
    stop: int | None = None

    def rows(self) -> Rows:
        """The rows as arrays. Raises UserError for rows that the plan does not have."""
        stop = self.plan.n_rows if self.stop is None else self.stop
        if not 0 <= self.start <= stop <= self.plan.n_rows:
            raise UserError(
                f"{self.plan.path}: rows {self.start} to {stop} are not within it; it has {self.plan.n_rows:,}"
            )
        return self.plan.arrays().take(np.arange(self.start, stop, dtype=np.int64))


def write_parts(parts: Sequence[Part], folder: Path) -> Plan:
    """A plan of parts of plans, one after the other: `plan[a:b]`, or what is left of an old plan and then a new one.

    Documents of the same table are the same documents: where a part comes again, its passes are counted on. Held-out
    rows are those of all plans. Raises UserError for plans of other rows or tokenizers, and for two plans that know the
    same document, whose passes could not be counted.
    """
    plans = list({part.plan.id: part.plan for part in parts}.values())
    for other in plans[1:]:
        _refuse_other(plans[0], other)
    tables = _tables(plans)
    table = pa.concat_tables([source.documents.table for source, _ in tables.values()]).unify_dictionaries()
    names = list(dict.fromkeys(name for plan in plans for name in plan.datasets))
    dataset = _datasets(tables, names)
    table = table.set_column(0, "dataset", pa.array(dataset.astype(np.int16)))
    numbered = {plan.id: _numbers(plan, tables, names) for plan in plans}
    rows = together([part.rows().renumbered(*numbered[part.plan.id]) for part in parts]).passes_counted()
    held = {plan.about["sha256"][f"{HELD_OUT}/{SPANS}"]: plan for plan in plans if plan.held_out}
    held_out = together(
        [_empty(), *(p.held_out.arrays().renumbered(*numbered[p.id]) for p in held.values() if p.held_out)]
    )
    made_of = [{"plan": part.plan.id, "start": part.start, "stop": part.stop} for part in parts]
    return _written(folder, plans, names, table, rows, held_out, {"parts": made_of})


def write_slice(plan: Plan, start: int, stop: int | None, folder: Path) -> Plan:
    """Rows [start, stop) of a plan as a plan of its own. Raises UserError."""
    return write_parts([Part(plan, start, stop)], folder)


def chronicle_arms(plan: Plan, folder: Path, parts: int = PARTS) -> dict[str, list[Path]]:
    """The plans of the arms, by name, each as folders to train one after the other, with a restart between them.

    Parts are of equally many whole steps; what is over of the plan is in none. Beside `1_1_1_1`, that takes the same
    folder again and again, `1_1_1_1_in_one` is the same rows as one plan, whose passes are counted. Raises UserError
    for a plan with fewer steps than parts.
    """
    steps = plan.n_rows // plan.rows_per_step // parts
    if not steps:
        raise UserError(
            f"{plan.path}: has {plan.n_rows // plan.rows_per_step} whole steps, {parts} parts need one each"
        )
    size = steps * plan.rows_per_step
    digits = [str(n) for n in range(1, parts + 1)]
    slices = []
    for n, digit in enumerate(digits):
        slices.append(folder / f"part-{digit}")
        write_slice(plan, n * size, (n + 1) * size, slices[-1])
    whole, again = folder / "".join(digits), folder / "_".join("1" * parts)
    write_slice(plan, 0, parts * size, whole)
    write_parts([Part(plan, 0, size)] * parts, again)
    return {
        whole.name: [whole],
        "_".join(digits): slices,
        again.name: slices[:1] * parts,
        f"{again.name}_in_one": [again],
    }


def _refuse_other(first: Plan, other: Plan) -> None:
    for key in SAME:
        left, right = first.about[key], other.about[key]
        if key == "tokenizer":
            left, right = left["sha256"][:12], right["sha256"][:12]
        if left != right:
            raise UserError(
                f"{other.path}: its {key} is {right}, that of {first.path} is {left}; they must be the same"
            )


_Tables = Mapping[str, tuple[Plan, int]]  # which documents -> a plan that numbers them, and the number of its first


def _tables(plans: Sequence[Plan]) -> _Tables:
    """The different tables of documents, and the number that the first document of each gets."""
    out: dict[str, tuple[Plan, int]] = {}
    seen: pa.Array | None = None
    first = 0
    for plan in plans:
        name = _documents_id(plan)
        if name in out:
            continue
        ids = plan.documents.table["doc_id"].combine_chunks()
        if seen is not None:
            both = ids.filter(pc.is_in(ids, seen))
            if len(both):
                raise UserError(
                    f"{plan.path}: document {both[0].as_py()} is in another of the plans too ({len(both):,} such): its "
                    "passes could not be counted; make one plan of all runs, or leave it out of one"
                )
        seen = ids if seen is None else pa.concat_arrays([seen, ids])
        out[name] = plan, first
        first += plan.n_documents
    return out


def _documents_id(plan: Plan) -> str:
    """Which documents a plan numbers: slices of one plan, and plans that leave some out, number the same."""
    return str(plan.about["documents_of"])


def _datasets(tables: _Tables, names: Sequence[str]) -> Integers:
    """The data set of each document, as numbered in `names`."""
    parts = []
    for plan, _ in tables.values():
        numbers = np.array([names.index(name) for name in plan.datasets])
        parts.append(numbers[plan.documents.array("dataset")])
    return np.concatenate(parts).astype(np.int64)


def _numbers(plan: Plan, tables: _Tables, names: Sequence[str]) -> tuple[Integers, Integers]:
    """The new numbers of a plan's documents and of its data sets."""
    first = tables[_documents_id(plan)][1]
    datasets = np.array([names.index(name) for name in plan.datasets], np.int64)
    return np.arange(first, first + plan.n_documents, dtype=np.int64), datasets


def _empty() -> Rows:
    none = np.zeros(0, np.int64)
    return Rows(none, none, Spans(none, none, none, none, none, none.astype(np.bool_)), none)


def _written(
    folder: Path,
    plans: Sequence[Plan],
    names: Sequence[str],
    table: pa.Table,
    rows: Rows,
    held_out: Rows,
    made_of: Mapping[str, Any],
) -> Plan:
    first = plans[0]
    n_tokens, n_images, dataset = (
        table[name].to_numpy().astype(np.int64) for name in ("n_tokens", "n_images", "dataset")
    )
    once, held = covered(rows, len(table)), covered(held_out, len(table)) > 0
    numbers, kinds = _reasons(table["reason"].combine_chunks(), once > 0, held)
    wishes = {d["name"]: {"weight": d["weight"], "repeat": d["repeat"]} for p in plans for d in p.about["datasets"]}
    about = {
        "recipe": first.about["recipe"],
        "made_of": dict(made_of),
        "tokenizer": first.about["tokenizer"],
        "sequence_tokens": first.sequence_tokens,
        "images_per_row": first.images_per_row,
        "rows_per_step": first.rows_per_step,
        "steps": -(-len(rows) // first.rows_per_step),
        "rows": len(rows),
        "datasets": format_datasets(names, dataset, once, n_images, once > 0, rows, [wishes[n] for n in names]),
        "ledger": ledger(n_tokens, numbers, kinds, rows, held_out, np.zeros(len(table), np.bool_), NOT_HERE),
        "audit": audit(rows, held_out, first.sequence_tokens, first.rows_per_step),
    }
    reason = pa.array(kinds, pa.string()).take(pa.array(numbers))
    table = table.set_column(table.column_names.index("reason"), "reason", reason)
    write_plan(folder, table, rows, held_out, about)
    return open_plan(folder)


def _reasons(old: pa.Array, trained: Flags, held: Flags) -> tuple[Integers, list[str | None]]:
    """Why documents are not in the order now: the number of each one's reason, and the reasons."""
    coded = old.dictionary_encode()
    kinds: list[str | None] = [None, HELD_OUT, NOT_HERE]
    kinds += [name for name in coded.dictionary.to_pylist() if name not in kinds]
    known = np.array([kinds.index(name) for name in coded.dictionary.to_pylist()] + [0], np.int64)
    before = known[coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)]
    lost = np.where(before > 1, before, kinds.index(NOT_HERE))
    return np.where(trained, 0, np.where(held, kinds.index(HELD_OUT), lost)), kinds
