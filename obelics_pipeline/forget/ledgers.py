"""The ledgers and notes of a run's manifest for its units as they are now, as the next run would write them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from obelics_pipeline.core.commit import read_manifests, recall, unit_names
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.ledger import Ledger, total
from obelics_pipeline.core.shards.manifest import RunManifest
from obelics_pipeline.core.storage import Location, names_in
from obelics_pipeline.forget.documents import PERSONAL_DATA
from obelics_pipeline.jobs.noted import stages_in
from obelics_pipeline.jobs.run_ledgers import run_ledgers
from obelics_pipeline.policy.personal_data.counts import total as total_of_personal_data
from obelics_pipeline.stages.dedup.deduplication import settles
from obelics_pipeline.stages.fetch.stage import fetch_unit_of, plan_stem


def ledgers_now(run: RunFolder, config: RunConfig, manifest: RunManifest) -> dict[str, Ledger] | None:
    """The run's ledgers as a run adds them up; None if units failed or a stage is missing."""
    if manifest.notes.get("failed_units") or not unit_names(run.extract):
        return None
    counted: dict[str, dict[str, Ledger]] = {}
    for stage in stages_in(run):
        for step, nouns in stage.ledgers.items():
            place = stage.folder(run.path) if stage.documents else run.shuffled / step
            if unit_names(place) and (stage.documents or settles(config)):
                counted[step] = {noun: _sum(place, noun) for noun in nouns}
    found = run_ledgers(stages_in(run), counted, (), manifest.counts()["documents"])
    found["urls"] = _urls(run, config) or manifest.ledgers.get("urls", Ledger("urls"))
    counts = manifest.counts()
    right = all(ledger.balanced() for ledger in found.values())
    return found if right and all(found[n].kept == counts[n] for n in ("documents", "images")) else None


def notes_now(run: RunFolder, manifest: RunManifest) -> dict[str, Any]:
    """The notes of the manifest. Counts of personal data are made again, or left out if no unit is left to count."""
    notes = dict(manifest.notes)
    if PERSONAL_DATA in notes:
        units = read_manifests(run.extract, unit_names(run.extract)).values()
        notes[PERSONAL_DATA] = total_of_personal_data(m.notes[PERSONAL_DATA] for m in units)
    return {name: of_it for name, of_it in notes.items() if of_it or name != PERSONAL_DATA}


def _sum(folder: Location, noun: str, names: Iterable[str] | None = None) -> Ledger:
    wanted = unit_names(folder) if names is None else list(names)
    found = read_manifests(folder, wanted).values()
    return total(noun, (m.ledgers[noun] for m in found if noun in m.ledgers))


def _urls(run: RunFolder, config: RunConfig) -> Ledger | None:
    """The ledger of the units of the last fetch, which its plan names."""
    folder = run.shuffled / "requests"
    for name in names_in(folder):
        if not name.endswith(".json"):
            continue
        groups: dict[str, Any] = recall(folder / name)
        digests = {value: _asked(group) for value, group in groups.items()}
        there = set(unit_names(run.fetch))
        plans = names_in(run.fetch / "plans", plan_stem(digests, config.fetch))
        units = [
            [fetch_unit_of(value, {}).name for value in recall(run.fetch / "plans" / plan)]
            for plan in plans
            if not plan.endswith(".dropped.json")
        ]
        whole = [names for names in units if there.issuperset(names)]
        if len(whole) == 1:  # of several nobody can tell which was the last
            return _sum(run.fetch, "urls", whole[0])
    return None


def _asked(group: dict[str, Any]) -> str:
    """The digest of what a bucket asks for; earlier versions took that of its file for one."""
    return str(group["notes"].get("asked", group["pieces"]["data"]["sha256"]))
