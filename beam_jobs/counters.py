"""Ledgers as Beam counters, which a runner's own page shows: records, documents and images kept, dropped, failed.

Counters count attempts: on a cluster that runs a bundle twice they are larger than the manifests, which are the truth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from apache_beam.metrics.metric import Metrics
from apache_beam.runners.runner import PipelineResult

from obelics_pipeline.core.commit import Manifest
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.engines.engine import Failure

NAMESPACE = "obelics"


def count(name: str, n: int = 1) -> None:
    """Add to a counter. Only within a DoFn."""
    Metrics.counter(NAMESPACE, name).inc(n)


def count_unit(outcome: Manifest | Failure) -> None:
    """Count a unit and what its ledgers say."""
    if isinstance(outcome, Failure):
        count("units_failed")
        return
    count("units_done")
    for name, n in ledger_counts(outcome.ledgers.values()).items():
        count(name, n)


def ledger_counts(ledgers: Iterable[Ledger]) -> Counter[str]:
    """Counts by counter name: `documents_kept`, `documents_dropped.no_text`, `images_failed.timeout`."""
    counts: Counter[str] = Counter()
    for ledger in ledgers:
        counts[f"{ledger.noun}_kept"] += ledger.kept
        for how, reasons in (("dropped", ledger.dropped), ("failed", ledger.failed)):
            for reason, n in reasons.items():
                counts[f"{ledger.noun}_{how}.{reason}"] += n
    return +counts


def counters_of(result: PipelineResult) -> Counter[str]:
    """Our counters of a pipeline that has run, those that a runner keeps (`committed`, else `attempted`)."""
    counts: Counter[str] = Counter()
    for found in result.metrics().query()["counters"]:
        if found.key.metric.namespace == NAMESPACE:
            counts[found.key.metric.name] += found.committed if found.committed is not None else found.attempted or 0
    return counts
