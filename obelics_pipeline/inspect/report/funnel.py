"""From records to documents: what entered each step, what it kept, and every reason, as the ledgers have them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from obelics_pipeline.core.commit import Manifest, read_manifests, unit_names
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.ledger import Ledger, total
from obelics_pipeline.core.storage import read_tables
from obelics_pipeline.inspect.report.opened import Run
from obelics_pipeline.inspect.run_tables.folders import active_stages, committed_units
from obelics_pipeline.stages.dedup.deduplication import compares
from obelics_pipeline.stages.fetch.stage import identity
from obelics_pipeline.stages.fetch.value import FETCH
from obelics_pipeline.stages.stage import Stage


@dataclass(frozen=True)
class Reason:
    """Why so many did not go on; `failed` where no rule decided it."""

    name: str
    count: int
    failed: bool


@dataclass(frozen=True)
class Step:
    """One step: what entered = what it kept + its reasons. `missing` was kept before and did not arrive here."""

    stage: str
    title: str
    entered: int
    kept: int
    reasons: Sequence[Reason]
    missing: int = 0


@dataclass(frozen=True)
class Funnel:
    """The steps of each noun. `urls` are distinct, `images` are places in documents."""

    records: Step
    documents: Sequence[Step]
    images: Sequence[Step]
    urls: Step | None


def funnel_of(run: Run) -> Funnel:
    """The steps of a run, from the manifests of its units."""
    stages = active_stages(run.folder)
    units = {s.name: committed_units(run.folder, s.folder(run.folder.path)) for s in stages if s.documents}
    units |= _compared(run, stages, units)
    order = reason_order(stages, run.config)
    in_shards = run.manifest.counts() if run.manifest is not None else {}
    return Funnel(
        records=step(stages[0].name, "Records of the input", _sum("records", units[stages[0].name])),
        documents=_steps("documents", stages, units, order, in_shards.get("documents")),
        images=_steps("images", stages, units, order, in_shards.get("images")),
        urls=_urls(run),
    )


def _compared(run: Run, stages: Sequence[Stage], units: Mapping[str, Sequence[Manifest]]) -> dict[str, list[Manifest]]:
    """The units of a stage that leaves out documents and writes none: of those that met their images."""
    if not compares(run.config):
        return {}
    last = {m.unit for stage in stages if stage.with_images for m in units.get(stage.name, ())}
    found: dict[str, list[Manifest]] = {}
    for stage in stages:
        for step_, nouns in stage.ledgers.items():
            if "documents" in nouns and not stage.documents:
                folder = run.folder.shuffled / step_
                read = read_manifests(folder, unit_names(folder)).values()
                found[stage.name] = [m for m in read if m.notes.get("documents") in last]
    return found


def reason_order(stages: Sequence[Stage], config: RunConfig) -> list[str]:
    """The reasons of documents in the order in which a config's rules are applied."""
    scores = ([*stage.reasons, *(score.name for score in stage.bounds(config))] for stage in stages)
    return list(dict.fromkeys(reason for of_stage in scores for reason in of_stage))


def step(stage: str, title: str, ledger: Ledger, order: Sequence[str] | None = None, missing: int = 0) -> Step:
    """A ledger as a step: its reasons in an order, or the most frequent first; failures last."""
    rank = {name: i for i, name in enumerate(order or ())}
    reasons = []
    for counts, failed in ((ledger.dropped, False), (ledger.failed, True)):
        rows = [(rank.get(name, len(rank)), -n, name) for name, n in counts.items() if n]
        reasons += [Reason(name, -n, failed) for _, n, name in sorted(rows)]
    return Step(stage, title, ledger.entered, ledger.kept, reasons, missing)


def _steps(
    noun: str,
    stages: Sequence[Stage],
    units: Mapping[str, Sequence[Manifest]],
    order: Sequence[str],
    in_shards: int | None,
) -> list[Step]:
    steps: list[Step] = []
    for stage in stages:
        manifests = units.get(stage.name, ())
        if any(noun in m.ledgers for m in manifests):
            ledger = _sum(noun, manifests)
            missing = steps[-1].kept - ledger.entered if steps else 0
            ranked = order if noun == "documents" else None
            steps.append(step(stage.name, stage.title, ledger, ranked, max(missing, 0)))
    if in_shards is not None and steps and steps[-1].kept != in_shards:
        written = Ledger(noun, in_shards, in_shards)
        steps.append(step(stages[-1].name, "Written to shards", written, missing=steps[-1].kept - in_shards))
    return steps


def _sum(noun: str, manifests: Iterable[Manifest]) -> Ledger:
    return total(noun, (m.ledgers[noun] for m in manifests if noun in m.ledgers))


def _urls(run: Run) -> Step | None:
    """The ledger of URLs: of a finished run, its own; else counted from the answers so far."""
    if run.manifest is not None:
        ledger = run.manifest.ledgers.get("urls")
        return step(FETCH.name, FETCH.title, ledger) if ledger is not None and ledger.entered else None
    folder = run.folder.fetch
    current = identity(run.config.fetch)
    manifests = [m for m in read_manifests(folder, unit_names(folder)).values() if m.notes.get("identity") == current]
    manifests.sort(key=lambda m: (m.notes["generation"], m.unit))
    outcomes: dict[str, tuple[str, str]] = {}
    for table in read_tables([m.path(folder, "data") for m in manifests], ["url", "status", "reason"]):
        outcomes.update(_outcomes(table))
    ledger = Ledger("urls")
    for status, reason in outcomes.values():
        {"ok": lambda _: ledger.keep(), "dropped": ledger.drop, "failed": ledger.fail}[status](reason)
    return step(FETCH.name, f"{FETCH.title}, so far", ledger) if outcomes else None


def _outcomes(table: pa.Table) -> dict[str, tuple[str, str]]:
    columns = (table[name].to_pylist() for name in ("url", "status", "reason"))
    return {url: (status, reason or status) for url, status, reason in zip(*columns, strict=True)}
