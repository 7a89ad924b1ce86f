"""The ledgers of a run, from those of its stages: nothing may be lost between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from obelics_pipeline.core.counted import counted
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.jobs.stages import stage_of
from obelics_pipeline.stages.stage import Stage

NOUNS = ("records", "documents", "images", "urls")
DOCUMENTS = "documents"  # what tars are made of

Counted = Mapping[str, Mapping[str, Ledger]]  # step -> noun -> the sum over its units
Failures = Sequence[Mapping[str, str]]


def run_ledgers(stages: Sequence[Stage], by_step: Counted, failures: Failures, in_tars: int) -> dict[str, Ledger]:
    """The ledgers of a run, by noun. Rows of failed units count as failed; any other difference is an error in the
    ledger.

    `in_tars` is the number of documents in the tars.
    """
    broken = {stage_of(stages, failure["stage"]) for failure in failures}
    nouns = dict.fromkeys([*NOUNS, *(noun for stage in stages for of in stage.ledgers.values() for noun in of)])
    ledgers = {noun: _of_noun(noun, stages, by_step, broken) for noun in nouns}
    _carry(ledgers[DOCUMENTS], in_tars, stages[-1].name, broken)
    return ledgers


def _of_noun(noun: str, stages: Sequence[Stage], by_step: Counted, broken: set[str]) -> Ledger:
    whole, begun = Ledger(noun), False
    for stage in stages:
        for step, nouns in stage.ledgers.items():
            if noun not in nouns or step not in by_step:
                continue
            of_stage = by_step[step].get(noun, Ledger(noun))
            if not begun:
                whole.add(of_stage)
                begun = True
                continue
            _carry(whole, of_stage.entered, stage.name, broken)
            whole.kept = of_stage.kept
            whole.dropped.update(of_stage.dropped)
            whole.failed.update(of_stage.failed)
    return whole


def _carry(ledger: Ledger, arrived: int, stage: str, broken: set[str]) -> None:
    """Count as failed, if a unit of the stage failed, what was kept before and did not arrive at the stage."""
    missing = ledger.kept - arrived
    ledger.kept = arrived
    if missing and stage in broken:
        ledger.failed[f"{stage}_unit_failed"] += missing


def summary(ledgers: Mapping[str, Ledger], where: object) -> str:
    """The last line of a run: documents and images kept, dropped and failed, with the main reasons."""
    documents, images = ledgers[DOCUMENTS], ledgers["images"]
    why = ", ".join(f"{reason} {n:,}" for reason, n in documents.dropped.most_common(5))
    failed = ", ".join(f"{reason} {n:,}" for reason, n in documents.failed.most_common(5))
    kept = f"{counted(documents.kept, 'documents')} with {counted(images.kept, 'images')}"
    return f"done: {kept} in {where} ({documents.dropped.total():,} dropped{why and ', mostly: '}{why}" + (
        f"; {documents.failed.total():,} failed: {failed})" if failed else ")"
    )
