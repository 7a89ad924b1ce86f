"""What a run's manifest says of its units as they are now: what the next run of the same command will write."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from obelics_pipeline.commit import read_manifests, unit_names
from obelics_pipeline.config import RunConfig
from obelics_pipeline.fetch.stage import fetch_unit_of, plan_stem
from obelics_pipeline.folder import RunFolder
from obelics_pipeline.forget.documents import PERSONAL_DATA
from obelics_pipeline.ledger import Ledger, total
from obelics_pipeline.personal_data.counts import total as total_of_personal_data
from obelics_pipeline.shard.manifest import RunManifest
from obelics_pipeline.storage import Place, names_in, read_bytes


def ledgers_now(run: RunFolder, config: RunConfig, manifest: RunManifest) -> dict[str, Ledger] | None:
    """As `Job` adds them up; None where units failed, or not all stages are there: then nobody can tell."""
    if manifest.notes.get("failed_units") or not unit_names(run.extract):
        return None
    places = [run.dedup, run.site, run.consent, run.assembled, run.scored]
    if config.dedup.enabled:
        places.append(run.exchange / "settled")
    documents, images = Ledger("documents"), Ledger("images")
    documents.add(_sum(run.extract, "documents"))
    images.add(_sum(run.assembled, "images"))
    for place in places:
        if unit_names(place):
            entered = _sum(place, "documents")
            documents.kept = entered.kept
            documents.dropped.update(entered.dropped)
            if place not in (run.dedup, run.site, run.consent, run.assembled):
                entered = _sum(place, "images")
                images.kept = entered.kept
                images.dropped.update(entered.dropped)
                images.failed.update(entered.failed)
    found = {
        "records": _sum(run.extract, "records"),
        "documents": documents,
        "images": images,
        "urls": _urls(run, config) or manifest.ledgers.get("urls", Ledger("urls")),
    }
    counts = manifest.counts()
    right = all(ledger.balanced() for ledger in found.values())
    return found if right and all(found[n].kept == counts[n] for n in ("documents", "images")) else None


def notes_now(run: RunFolder, manifest: RunManifest) -> dict[str, Any]:
    """The manifest's notes; what it says of personal data is left out where no unit is there to count it anew."""
    notes = dict(manifest.notes)
    if PERSONAL_DATA in notes:
        units = read_manifests(run.extract, unit_names(run.extract)).values()
        notes[PERSONAL_DATA] = total_of_personal_data(m.notes[PERSONAL_DATA] for m in units)
    return {name: of_it for name, of_it in notes.items() if of_it or name != PERSONAL_DATA}


def _sum(folder: Place, noun: str, names: Iterable[str] | None = None) -> Ledger:
    wanted = unit_names(folder) if names is None else list(names)
    found = read_manifests(folder, wanted).values()
    return total(noun, (m.ledgers[noun] for m in found if noun in m.ledgers))


def _urls(run: RunFolder, config: RunConfig) -> Ledger | None:
    """Of the units of the last fetch, which its plan names."""
    folder = run.exchange / "requests"
    for name in names_in(folder):
        if not name.endswith(".json"):
            continue
        groups: dict[str, Any] = json.loads(read_bytes(folder / name))
        digests = {value: group["pieces"]["data"]["sha256"] for value, group in groups.items()}
        there = set(unit_names(run.fetch))
        plans = names_in(run.fetch / "plans", plan_stem(digests, config.fetch))
        units = [
            [fetch_unit_of(value).name for value in json.loads(read_bytes(run.fetch / "plans" / plan))]
            for plan in plans
            if not plan.endswith(".dropped.json")
        ]
        whole = [names for names in units if there.issuperset(names)]
        if len(whole) == 1:  # of several nobody can tell which was the last
            return _sum(run.fetch, "urls", whole[0])
    return None
