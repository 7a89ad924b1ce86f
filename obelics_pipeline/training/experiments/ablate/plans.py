"""The plans of an experiment: one for each arm and seed, on equal tokens, and the clean documents apart from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.training.experiments.ablate.experiment import GOES, Half, Order
from obelics_pipeline.training.plan.arithmetic import chronicle_arms
from obelics_pipeline.training.plan.command import make_plan
from obelics_pipeline.training.plan.documents import read_run
from obelics_pipeline.training.plan.form import ABOUT
from obelics_pipeline.training.plan.plan_file import Plan, open_plan
from obelics_pipeline.training.plan.recipe import Recipe, Threshold

NEAR = 0.02  # share by which the tokens of two arms may differ: rows and steps are whole
NEAR_IN_ROWS = 0.05  # of orders of equally many rows, of which a short part may be packed tighter than the whole

Say = Callable[[str], None]


@dataclass(frozen=True)
class Planned:
    """What a training is to run through: a plan, and the last step of each go."""

    plan: Plan
    goes: tuple[int, ...]

    @property
    def tokens(self) -> int:
        """Of documents, without those that lead spans and without padding."""
        return sum(int(dataset["tokens"]) for dataset in self.plan.about["datasets"])


def plan_of(recipe: Recipe, folder: Path, counts: Path, workers: int, say: Say) -> Plan:
    """The plan of a recipe: the one that is there, if it is of this recipe. Raises UserError."""
    if (folder / ABOUT).is_file():
        there = open_plan(folder)
        if there.about["recipe"] == recipe.model_dump(mode="json"):
            return there
    make_plan(recipe, folder, workers=workers, counts=counts, say=say)
    return open_plan(folder)


def in_order(plan: Plan, order: Order | None, folder: Path) -> Planned:
    """A plan in one of the orders, in a folder. Raises UserError for a plan with fewer steps than parts."""
    if order is None:
        return Planned(plan, (plan.steps,))
    arms = chronicle_arms(plan, folder, GOES)
    found = open_plan(arms["1_1_1_1_in_one" if order == "1_1_1_1" else "1234"][0])
    if order == "1234":
        return Planned(found, (found.steps,))
    return Planned(found, tuple(found.steps // GOES * go for go in range(1, GOES + 1)))


def threshold_of(half: Half, recipe: Recipe) -> dict[str, Any]:
    """`half` as a recipe's `keep`: the median of its column over all documents of the runs. Raises UserError."""
    values = []
    for name, dataset in recipe.datasets.items():
        asked = dataset.model_copy(update={"keep": {half.column: Threshold()}})
        for run in dataset.runs:
            column = read_run(name, asked, run, Path()).table[half.column]
            values.append(column.cast("float64").drop_null().to_numpy())
    there = np.concatenate(values)
    if not len(there):
        raise UserError(f"half: {half.column} has no value in any run; take a column that was measured")
    bound = {"min" if half.keep == "high" else "max": float(np.median(there))}
    return {half.column: bound | {"if_missing": "drop"}}


def refuse_unequal(planned: Mapping[tuple[str, int], Planned], tokens: int) -> None:
    """Raises UserError where a plan has other tokens than the first, or the first has not what was asked for."""
    (first_name, _), first = next(iter(planned.items()))
    step = first.tokens // max(1, first.plan.steps)
    whole = step * (GOES if "made_of" in first.plan.about else 1)  # an order has whole steps in each part
    if abs(first.tokens - tokens) > max(NEAR * tokens, whole):
        raise UserError(_short(first_name, first.tokens, tokens))
    for (name, seed), one in planned.items():
        in_order = "made_of" in one.plan.about and one.plan.n_rows == first.plan.n_rows
        near = NEAR_IN_ROWS if in_order else NEAR
        if abs(one.tokens - first.tokens) > max(near * first.tokens, step):
            raise UserError(_short(f"{name}, seed {seed}", one.tokens, first.tokens))


def _short(name: str, found: int, wanted: int) -> str:
    todo = "raise datasets.*.repeat of the recipe, or lower tokens" if found < wanted else "lower tokens"
    return f"arm {name}: its plan has {found:,} tokens, not {wanted:,}: no equal terms; {todo}"


def refuse_other_words(plans: Sequence[tuple[str, Plan]]) -> None:
    """Raises UserError for plans of different tokenizers, whose losses per token cannot be compared."""
    (first_name, first), *others = plans
    for name, plan in others:
        if plan.about["tokenizer"]["sha256"] != first.about["tokenizer"]["sha256"]:
            raise UserError(
                f"{name} and {first_name} have different tokenizers: losses per token say nothing then; take one"
            )


def refuse_seen(name: str, plan: Plan, clean: Plan) -> None:
    """Raises UserError where an arm trains on a document that it is to be measured on: same texts and images."""
    if clean.held_out is None:
        raise UserError(f"clean: {clean.path} holds no document out; raise held_out of the recipe")
    measured = np.unique(clean.held_out.arrays().spans.document)
    trained = np.unique(plan.arrays().spans.document)
    mine = plan.documents.table["content_sha256"].take(trained)
    both = mine.filter(pc.is_in(mine, clean.documents.table["content_sha256"].take(measured).combine_chunks()))
    if len(both):
        raise UserError(
            f"arm {name}: trains on {len(both):,} of the documents that it is measured on; give all recipes the same "
            "held_out"
        )
