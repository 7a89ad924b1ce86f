"""Settings that fit a small input and not a large one, held against the estimate."""

from __future__ import annotations

from math import ceil

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.interval import rounded
from obelics_pipeline.inspect.check.estimate import Estimate
from obelics_pipeline.inspect.check.finding import Finding
from obelics_pipeline.inspect.check.sample import Sample
from obelics_pipeline.jobs.main_job import UNIT_SECONDS
from obelics_pipeline.stages.assumptions import Assumptions

BUCKET_ROWS = 2_000_000  # that fit into a worker's memory well (config/dedup.py, `buckets`)
MOST_OF_A_UNIT = 0.5  # of the time after which a unit is killed
LONG_SECONDS = 12 * 3600.0  # that all others may have to wait for one host


def limit_findings(sample: Sample, estimate: Estimate, config: RunConfig, assumed: Assumptions) -> list[Finding]:
    """Settings that an input of this size needs."""
    found = []
    if config.dedup.enabled:
        shuffled = max(estimate.counts[name].high for name in ("candidates_rows", "uses_rows"))
        need = ceil(shuffled / BUCKET_ROWS)
        if need > config.dedup.buckets:
            each = rounded(shuffled / config.dedup.buckets)
            told = f"{each} shuffled rows in a bucket; at most {rounded(BUCKET_ROWS)} fit into a worker's memory well"
            found.append(Finding("dedup.buckets", "warning", f"{told}: --set dedup.buckets={_power_of_two(need)}"))
    if config.fetch.enabled:
        seconds = estimate.counts["urls"].high * assumed.image_seconds / config.fetch.threads
        need = ceil(seconds / config.fetch.unit_seconds)
        if need > config.fetch.buckets:
            each = rounded(seconds / config.fetch.buckets)
            told = f"{each} s for a bucket, and a round of it ends after {config.fetch.unit_seconds:,.0f}"
            found.append(Finding("fetch.buckets", "warning", f"{told}: --set fetch.buckets={_power_of_two(need)}"))
    if config.fetch.enabled and sample.hosts:
        host, urls = min(sample.hosts.items(), key=lambda item: (-item[1], item[0]))
        asked = estimate.counts["urls"].point * urls / len(sample.urls)
        seconds = asked * max(assumed.image_seconds / config.fetch.per_host, config.fetch.host_delay_seconds)
        if seconds > LONG_SECONDS:
            told = f"{rounded(asked)} images of {host}, if it has as many everywhere, take {rounded(seconds / 3600)} h"
            told += f" at {config.fetch.per_host} at a time, and the run waits for them"
            found.append(Finding("fetch.per_host", "warning", told))
    if estimate.longest_unit_seconds > UNIT_SECONDS * MOST_OF_A_UNIT:
        told = f"a unit took {estimate.longest_unit_seconds:,.0f} s, and is killed after {UNIT_SECONDS:,.0f}"
        found.append(Finding("reading.unit_bytes", "warning", f"{told}: set it lower"))
    return found


def _power_of_two(number: int) -> int:
    return 1 << (number - 1).bit_length()
