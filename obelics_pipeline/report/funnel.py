"""From records to documents: what entered each step, what it kept, and every reason, as the ledgers have them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from obelics_pipeline.commit import Manifest, read_manifests, unit_names
from obelics_pipeline.config import RunConfig
from obelics_pipeline.extract.measure import LANGUAGE, score_names
from obelics_pipeline.fetch.stage import identity
from obelics_pipeline.ledger import Ledger, total
from obelics_pipeline.report.opened import Run
from obelics_pipeline.storage import read_tables
from obelics_pipeline.survey.folders import committed_units, document_folders

TITLES = {
    "extract": "Each page by itself: language, text rules",
    "dedup": "Less what repeats over the corpus, decided again",
    "site": "With what the pages of its site say together",
    "consent": "Less what is opted out, as a service says",
    "assemble": "Met their images",
    "score": "Looked at by models, text and images together",
    "shard": "Compared with each other: one of each group of duplicates is kept",
}


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
    units = {stage: committed_units(run.folder, where) for stage, where in document_folders(run.folder)}
    last = {m.unit for stage in ("assemble", "score") for m in units[stage]}
    settled = run.folder.exchange / "settled"
    if run.config.dedup.enabled:
        found = read_manifests(settled, unit_names(settled)).values()
        units["shard"] = [m for m in found if m.notes.get("documents") in last]
    order = reason_order(run.config)
    in_shards = run.manifest.counts() if run.manifest is not None else {}
    return Funnel(
        records=step("extract", "Records of the input", _sum("records", units["extract"])),
        documents=_steps("documents", units, order, in_shards.get("documents")),
        images=_steps("images", units, order, in_shards.get("images")),
        urls=_urls(run),
    )


def reason_order(config: RunConfig) -> list[str]:
    """The reasons of documents in the order in which a config's rules are applied."""
    rules = [LANGUAGE, *score_names(config), *config.site.document, *config.score.document]
    return list(dict.fromkeys(["no_text", *rules, "no_image"]))


def step(stage: str, title: str, ledger: Ledger, order: Sequence[str] | None = None, missing: int = 0) -> Step:
    """A ledger as a step: its reasons in an order, or the most frequent first; failures last."""
    rank = {name: i for i, name in enumerate(order or ())}
    reasons = []
    for counts, failed in ((ledger.dropped, False), (ledger.failed, True)):
        rows = [(rank.get(name, len(rank)), -n, name) for name, n in counts.items() if n]
        reasons += [Reason(name, -n, failed) for _, n, name in sorted(rows)]
    return Step(stage, title, ledger.entered, ledger.kept, reasons, missing)


def _steps(noun: str, units: dict[str, list[Manifest]], order: Sequence[str], in_shards: int | None) -> list[Step]:
    steps: list[Step] = []
    for stage, manifests in units.items():
        if any(noun in m.ledgers for m in manifests):
            ledger = _sum(noun, manifests)
            missing = steps[-1].kept - ledger.entered if steps else 0
            ranked = order if noun == "documents" else None
            steps.append(step(stage, TITLES[stage], ledger, ranked, max(missing, 0)))
    if in_shards is not None and steps and steps[-1].kept != in_shards:
        written = Ledger(noun, in_shards, in_shards)
        steps.append(step("shard", "Written to shards", written, missing=steps[-1].kept - in_shards))
    return steps


def _sum(noun: str, manifests: Iterable[Manifest]) -> Ledger:
    return total(noun, (m.ledgers[noun] for m in manifests if noun in m.ledgers))


def _urls(run: Run) -> Step | None:
    """Of a finished run as its ledger says; else what is known of each URL that was asked for so far."""
    title = "Distinct image URLs that were asked for"
    if run.manifest is not None:
        ledger = run.manifest.ledgers.get("urls")
        return step("fetch", title, ledger) if ledger is not None and ledger.entered else None
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
    return step("fetch", f"{title}, so far", ledger) if outcomes else None


def _outcomes(table: pa.Table) -> dict[str, tuple[str, str]]:
    columns = (table[name].to_pylist() for name in ("url", "status", "reason"))
    return {url: (status, reason or status) for url, status, reason in zip(*columns, strict=True)}
