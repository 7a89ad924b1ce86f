"""What the stage `fetch` costs: no image is asked for to learn it, so it follows from the addresses and assumptions."""

from __future__ import annotations

from functools import partial
from math import ceil

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.interval import Interval
from obelics_pipeline.core.storage import read_table
from obelics_pipeline.engines.shuffle import sources_of
from obelics_pipeline.stages.cost import Ahead, Amounts, Cost
from obelics_pipeline.stages.fetch.image_pack import TARGET
from obelics_pipeline.stages.fetch.image_rules import url_reason
from obelics_pipeline.stages.fetch.requests import deal_requests, request_unit, request_units
from obelics_pipeline.stages.job import Job

STAGE = "fetch"
PUTS = 8  # of a full pack: s3fs puts it in parts of 50 MB, with a request before and one after


def asked(job: Job, config: RunConfig) -> list[str]:
    """The addresses that the kept documents would ask for: the first half of the stage, as a run does it."""
    rules, folder, documents = config.images, job.folder.requests, job.documents
    work = partial(
        request_unit,
        folder=folder,
        document_folder=documents.folder,
        buckets=1,
        url_reason=partial(url_reason, config=rules),
    )
    units = request_units(documents.units, config.fetch, [rules.banned_words, rules.banned_as_substrings])
    requests = job.runner.map("requests", work, units, folder, part_of=STAGE)
    deal_requests(job.runner, job.folder.shuffled / "requests", sources_of(requests, folder))
    return [url for m in requests for url in read_table(m.path(folder, "data"), ["url"])["url"].to_pylist()]


def images(ahead: Ahead) -> Amounts:
    """One request for each address and each robots.txt; what is obtained is written in packs."""
    config, assumed = ahead.config.fetch, ahead.assumed
    urls, hosts, obtained = ahead.counts["urls"], ahead.counts["hosts"], ahead.counts["images"]
    requests = urls + (hosts if config.robots_txt else Interval.exactly(0.0))
    tasks = Interval.exactly(min(config.buckets, max(1, ceil(hosts.high))))
    size = obtained * assumed.image_bytes
    puts = tasks + size * (PUTS / TARGET)
    return {
        "tasks": tasks,
        "sites": requests,
        "cpu": urls * assumed.image_cpu_seconds,
        "wall": requests * assumed.image_seconds * (1 / config.threads) + puts * ahead.wait,
        "written": size,
        "removed": Interval.exactly(0.0) if ahead.config.shard.keep_packs else size,
        "puts": puts,
    }


COST = Cost(sampled=False, asks=asked, beyond=images)
