"""The sources of a run, made ready for its fetch units; and what was taken from them, for the manifest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

from obelics_pipeline.core.commit import Manifest, sweep
from obelics_pipeline.core.ledger import total
from obelics_pipeline.core.partitions import Partitions
from obelics_pipeline.engines.groups import DATA
from obelics_pipeline.engines.shuffle import map_all, shuffle, sources_of
from obelics_pipeline.stages.fetch.sources.found import find_sources
from obelics_pipeline.stages.fetch.sources.held import TAKEN, Sources
from obelics_pipeline.stages.fetch.sources.index import DAMAGED, HELD, STEP, first_of_url, source_unit, source_units
from obelics_pipeline.stages.job import Job

NOTE = "fetch_sources"  # of the run's manifest


def offered(job: Job) -> Sources | None:
    """The index of what the config's sources hold; None where it names none. A line for each damaged file."""
    config, options = job.config.fetch, job.config.reading.storage_options
    if not config.sources:
        return None
    files = find_sources(config.sources, options)
    folder = job.folder.shuffled / f"{STEP}-read"
    units = source_units(files, config.buckets)
    read = map_all(job.runner, STEP, partial(source_unit, folder=folder, options=options), units, folder, "fetch")
    sweep(folder, read)
    for unit in read:
        if unit.notes[DAMAGED]:
            job.runner.say(f"fetch.sources {unit.notes['file']}: {unit.notes[DAMAGED]}; what follows there is not used")
    dealt = shuffle(job.runner, job.folder.shuffled / STEP, sources_of(read, folder), "bucket", first_of_url, STEP)
    pieces = {bucket: group.pieces[DATA] for bucket, group in dealt.groups.items()}
    index = Partitions(
        dealt.folder,
        {bucket: [piece.name] for bucket, piece in pieces.items()},
        {bucket: piece.sha256 for bucket, piece in pieces.items()},
    )
    held = total(HELD, (unit.ledgers[HELD] for unit in read)).to_json()
    damaged = sum(bool(unit.notes[DAMAGED]) for unit in read)
    job.notes[NOTE] = {"files": len(files), "damaged": damaged, "images": held}
    return Sources(index, {file.name: file.path for file in files}, options, config.source_images)


def note_taken(job: Job, fetched: Sequence[Manifest]) -> None:
    """Add up what fetch units took from sources, and what they refused."""
    if NOTE not in job.notes:
        return
    kept, dropped, refused = 0, Counter[str](), Counter[str]()
    for taken in (unit.notes[TAKEN] for unit in fetched if TAKEN in unit.notes):
        kept += taken["kept"]
        dropped.update(taken["dropped"])
        refused.update(taken["refused"])
    of_reasons = {"dropped": dict(sorted(dropped.items())), "refused": dict(sorted(refused.items()))}
    job.notes[NOTE] |= {"taken": {"kept": kept, **of_reasons}}
