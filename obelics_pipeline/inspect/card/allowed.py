"""Opt-out signals and licences that a run found, what lists dropped, and what was removed by `obelics forget`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.inspect.report.opened import Run
from obelics_pipeline.policy.blocklists.lists import REASON as BLOCKED
from obelics_pipeline.policy.opt_outs.lists import OPT_OUT


@dataclass(frozen=True)
class AppliedList:
    """A list of the config. `dropped` are records and documents, and `images` places in documents, that it took out.

    `entries` and `sha256` are of what the run read; None for a service, and for runs that did not note them.
    """

    name: str
    kind: str
    of: str
    entries: int | None
    sha256: str | None
    dropped: int
    images: int


@dataclass(frozen=True)
class Removal:
    """What one `obelics forget` removed from the shards, and the day (UTC). `asked`: number of entries in its lists."""

    day: str
    asked: int
    documents: int
    images: int


def applied_lists(
    config: RunConfig, ledgers: Mapping[str, Ledger], read: Mapping[str, Mapping[str, Any]]
) -> Iterator[AppliedList]:
    """The lists of domains and of opt-outs, then the service, with what each dropped.

    `read` is the manifest's note `lists`: of each list, by its reason, what was read.
    """
    consent = config.consent
    rows = [(BLOCKED, n, "domains, URLs", a.applies_to) for n, a in config.blocklists.items()]
    rows += [(OPT_OUT, n, a.kind, list(a.of)) for n, a in consent.lists.items()]
    if consent.service is not None:
        rows.append((OPT_OUT, consent.service.name, "service", list(consent.service.of)))
    for prefix, name, kind, of in rows:
        counts = {noun: ledger.dropped[prefix + name] for noun, ledger in ledgers.items()}
        pages = counts.get("records", 0) + counts.get("documents", 0)
        about = " and ".join(of)
        told = read.get(prefix + name, {})
        found = told.get("entries"), told.get("sha256")
        yield AppliedList(name, kind, about, *found, pages, counts.get("images", 0))


def signals(config: RunConfig) -> Iterator[tuple[str, str]]:
    """The opt-out signals that a page or its host can send, and what the run did about each."""
    crawl, fetch = config.consent.crawl, config.fetch
    yield "noai and noimageai, of a page", _done(config.reading.honour_noai)
    yield "rights reserved for text and data mining (TDM), of a page", _done(crawl.tdm == "drop", crawl.record)
    robots_known = crawl.record and bool(crawl.robots_txt)
    yield "robots.txt of a page's host, as the crawl found it", _done(crawl.robots == "drop", robots_known)
    if fetch.enabled:
        yield "robots.txt, when an image was asked for", _done(fetch.robots_txt)
        yield "ai.txt, when an image was asked for", _done(fetch.ai_txt)
        yield "TDM, when an image was asked for", _done(fetch.tdm != "ignore")


def _done(obeyed: bool, recorded: bool = False) -> str:
    return "obeyed" if obeyed else "recorded with each document" if recorded else "not looked at"


def asked_again(run: Run) -> tuple[str, Mapping[str, int]] | None:
    """The day (UTC) on which pages and images were last asked again, and how many gave each answer; None: never."""
    asked = [event for event in run.events if event["event"] == "consent_asked"]
    if not asked:
        return None
    return datetime.fromtimestamp(asked[-1]["time"], UTC).date().isoformat(), asked[-1]["said"]


def removals(run: Run) -> Iterator[Removal]:
    """The removals in the event log of a run, the oldest first."""
    for event in run.events:
        if event["event"] == "forgotten":
            day = datetime.fromtimestamp(event["time"], UTC).date().isoformat()
            yield Removal(day, sum(event["lists"].values()), event["documents"], event["images"])
