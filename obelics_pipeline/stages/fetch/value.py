"""The stage `fetch`: image URLs of the kept documents to images in the store."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from obelics_pipeline.core.commit import Manifest, names_by_label, remember, sweep
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.config.sharding import ImageRulesConfig
from obelics_pipeline.core.counted import counted
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.partitions import Partitions
from obelics_pipeline.core.storage import remove_tree
from obelics_pipeline.core.unit import Unit, digest
from obelics_pipeline.engines.shuffle import partition_by, sources_of
from obelics_pipeline.policy.image_safety.known_abuse import located, prepare
from obelics_pipeline.policy.image_safety.report import hook
from obelics_pipeline.policy.opt_outs.lists import OptOuts
from obelics_pipeline.stages.fetch.carried import RowImages
from obelics_pipeline.stages.fetch.cost import COST
from obelics_pipeline.stages.fetch.image_rules import url_reason
from obelics_pipeline.stages.fetch.named_images import drop_unnamed
from obelics_pipeline.stages.fetch.quality.measure import OF_QR_CODES
from obelics_pipeline.stages.fetch.quality.qr_codes import demand_reader
from obelics_pipeline.stages.fetch.reasons import REASONS
from obelics_pipeline.stages.fetch.removed_packs import STEPS, bring_back
from obelics_pipeline.stages.fetch.requests import deal_requests, request_unit, request_units
from obelics_pipeline.stages.fetch.resizer import resizer_file
from obelics_pipeline.stages.fetch.sources.found import find_sources
from obelics_pipeline.stages.fetch.sources.index import STEP as SOURCES
from obelics_pipeline.stages.fetch.sources.offered import note_taken, offered
from obelics_pipeline.stages.fetch.stage import (
    fetch_unit,
    fetch_unit_of,
    fetch_units,
    plan_name,
    treated_as,
)
from obelics_pipeline.stages.fetch.unit_images import staging_of
from obelics_pipeline.stages.job import Documents, Job
from obelics_pipeline.stages.rows.layouts.layout import LAYOUTS
from obelics_pipeline.stages.stage import Stage

NAME = "fetch"
PACKAGES = ("PIL", "protego", "imagehash")  # of the extra "images"


def fetches(config: RunConfig) -> bool:
    """Whether images are fetched."""
    return config.fetch.enabled


def check(config: RunConfig) -> list[str]:
    """Raises UserError for a missing package or hook; makes hash lists ready, and says of each what it held."""
    if not config.fetch.enabled:
        return []
    absent = [name for name in PACKAGES if find_spec(name) is None]
    if absent:
        raise UserError(
            f"fetching images needs {', '.join(absent)}: pip install 'obelics-pipeline[images]'; or run without: "
            "--set fetch.enabled=false"
        )
    if config.fetch.reencode != "never":
        resizer_file()
    if not set(OF_QR_CODES).isdisjoint(config.images.measures):
        demand_reader()
    if config.image_safety.faces is not None:
        hook(config.image_safety.faces, "image_safety.faces")
    prepared = prepare(config.image_safety.known_abuse)
    sources = find_sources(config.fetch.sources, config.reading.storage_options)
    told = zip(config.image_safety.known_abuse.lists, () if prepared is None else prepared.counts, strict=False)
    return [f"fetch.sources: {counted(len(sources), 'files')} of images"] * bool(sources) + [
        f"hash list {Path(of.path).name}: {counts.hashes:,} hashes"
        + (f"; {counts.bad:,} lines without a hash were skipped" if counts.bad else "")
        for of, counts in told
    ]


def work(job: Job) -> None:
    """Fetch the images; `job.answers` gets the answers by unit of documents.

    A sample also fetches the images of dropped documents, so that they can be shown and compared.
    """
    folder, config = job.folder.fetch, job.config.fetch
    requests = _requests(job, job.documents)
    if job.sample is not None:
        requests = [*requests, *_requests(job, Documents(job.extracted, job.folder.extract), everything=True)]
    sweep(job.folder.requests, requests)
    sources = sources_of(requests, job.folder.requests)
    partitions = deal_requests(job.runner, job.folder.shuffled / "requests", sources)
    safety = located(job.config.image_safety)
    lists = prepare(safety.known_abuse)
    measures = job.config.images.measures
    held = offered(job)
    treated = treated_as(safety, "" if lists is None else lists.identity, measures)
    forgotten = job.forgotten_elsewhere
    of_sources = "" if held is None else held.identity
    plan = folder / "plans" / plan_name(partitions.digests, config, treated, forgotten, of_sources)
    if job.retry:
        plan.unlink(missing_ok=True)
    names = names_by_label(folder)
    planned = remember(
        plan, lambda: fetch_units(partitions, folder, config, names, job.retry, treated, forgotten, held)
    )
    units = [_reading(fetch_unit_of(value, names), partitions) for value in planned]
    bring_back(job, NAME, units, folder)
    do = functools.partial(
        fetch_unit,
        folder=folder,
        request_folder=partitions.folder,
        images=job.folder.images,
        config=config,
        safety=safety,
        document_folders=[job.documents.folder, job.folder.extract],
        forgotten=job.forgotten,
        measures=measures,
        rows_with_images=_rows_with_images(job),
        sources=held,
    )
    fetched = job.runner.map(NAME, do, units, folder)
    if len(fetched) == len(units):
        remove_tree(staging_of(folder))  # of units that were killed once they were committed
    if len(fetched) == len(units) and any(m.notes.get("superseded") for m in fetched):
        dropped = folder / "plans" / f"{digest([m.unit for m in fetched])}.dropped.json"
        remember(dropped, lambda: drop_unnamed(job.folder.all_fetched(), job.folder.images))
    note_taken(job, fetched)
    answers = sources_of(fetched, folder, "answers")
    job.answers = partition_by(job.runner, job.folder.shuffled / "answers", answers, "partition")


def _reading(unit: Unit, requests: Partitions) -> Unit:
    """The unit of a bucket, which says for how many URLs it is asked."""
    return replace(unit, input={"urls": requests.counts.get(str(unit.payload["bucket"]), 0)})


def _requests(job: Job, documents: Documents, everything: bool = False) -> Sequence[Manifest]:
    """Which URLs to ask for; what a rule refuses by its URL alone is never asked."""
    rules, folder = job.config.images, job.folder.requests
    do = functools.partial(
        request_unit,
        folder=folder,
        document_folder=documents.folder,
        buckets=job.config.fetch.buckets,
        url_reason=functools.partial(_url_reason, config=rules, opt_outs=job.opt_outs),
        carried=_rows_with_images(job) is not None,
    )
    lists = job.opt_outs.identity("images")
    refused: Sequence[object] = [rules.banned_words, rules.banned_as_substrings, *([lists] if lists else [])]
    units = request_units(documents.units, job.config.fetch, refused, everything)
    return job.runner.map("requests", do, units, folder, part_of=NAME)


def _rows_with_images(job: Job) -> RowImages | None:
    reading = job.config.reading
    layout = LAYOUTS.get(reading.layout)
    if layout is None or not layout.carries:
        return None
    folders = [job.documents.folder, job.folder.extract]
    return RowImages(reading.layout, job.row_files, reading.storage_options, folders)


def _url_reason(url: str, config: ImageRulesConfig, opt_outs: OptOuts) -> str | None:
    return opt_outs.image_reason(url) or url_reason(url, config)


FETCH = Stage(
    name=NAME,
    title="Distinct image URLs that were asked for",
    work=work,
    active=fetches,
    check=check,
    steps=("requests", "answers", SOURCES, *STEPS),
    ledgers={NAME: ("urls",)},
    reasons=REASONS,
    cost=COST,
)
