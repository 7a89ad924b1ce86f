"""What the score of generated text made of the demo's pages: counted in the tables of the run, and nowhere else."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from rich.console import Console
from rich.markup import escape

from obelics_pipeline.core.commit import read_manifests, unit_names
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.shards.run_index import demand_index
from obelics_pipeline.core.storage import Location, read_schema, read_table
from obelics_pipeline.demo.farm import HOST
from obelics_pipeline.demo.pages import farms, unusual
from obelics_pipeline.jobs.noted import stages_in

FARM_SCORE = "farm_score"
REASONS = (FARM_SCORE, "farm_score_in_site")  # of the page alone; given those of its site


@dataclass(frozen=True)
class Verdict:
    """How a document of a run ended."""

    url: str
    kept: bool  # it stands in a shard
    reason: str | None  # where a stage dropped it; None for a kept one, and for a duplicate of one
    farm_score: float | None  # None where it was not measured

    @property
    def host(self) -> str:
        """The host of its page."""
        return urlsplit(self.url).hostname or ""


def print_verdicts(output: Path, console: Console) -> None:
    """Print which documents were dropped as generated, from which hosts, and how many unusual honest ones were kept."""
    for line in lines_of_verdicts(verdicts_of(output), output):
        console.print(line, highlight=False, soft_wrap=True)


def verdicts_of(output: Path) -> list[Verdict]:
    """The verdict on every document of a finished run, sorted by URL.

    Raises UserError where the documents that are kept, or dropped for their score, are not as many as the manifest has.
    """
    folder = RunFolder(output)
    kept = set(demand_index(folder.path).table(["doc_id"])["doc_id"].to_pylist())
    rows: dict[str, dict[str, Any]] = {}
    for stage in stages_in(folder):  # each knows more than the one before
        if stage.documents:
            rows |= {row["doc_id"]: row for row in _rows(stage.folder(folder.path))}
    found = [_verdict(row, row["doc_id"] in kept) for row in rows.values()]
    counts = json.loads((output / "manifest.json").read_text(encoding="utf-8"))["ledgers"]["documents"]
    for what, told, n in (
        ("kept", counts["kept"], sum(verdict.kept for verdict in found)),
        *((name, counts["dropped"].get(name, 0), sum(verdict.reason == name for verdict in found)) for name in REASONS),
    ):
        if told != n:
            raise UserError(f"{output}: manifest.json counts {told} documents as {what}, and its tables have {n}")
    return sorted(found, key=lambda verdict: verdict.url)


def _rows(place: Location) -> Iterator[dict[str, Any]]:
    """The documents of a stage, without their texts."""
    for manifest in read_manifests(place, unit_names(place)).values():
        path = manifest.path(place, "data")
        columns = ["doc_id", "general_metadata", "reason", FARM_SCORE]
        yield from read_table(path, [name for name in columns if name in read_schema(path).names]).to_pylist()


def _verdict(row: dict[str, Any], kept: bool) -> Verdict:
    return Verdict(json.loads(row["general_metadata"])["url"], kept, row["reason"], row.get(FARM_SCORE))


def lines_of_verdicts(verdicts: Sequence[Verdict], output: Path) -> list[str]:
    """The verdicts as lines with rich's markup: by host, then the honest pages, then how to see a reason."""
    lines = ["", f"[bold]generated text[/bold] ({', '.join(REASONS)})"]
    if all(verdict.farm_score is None for verdict in verdicts):
        return [*lines, "not measured: the config does not ask for it, or there is no detector"]
    dropped = [verdict for verdict in verdicts if verdict.reason in REASONS]
    by_reason = Counter(verdict.reason for verdict in dropped)
    counts = ", ".join(f"{name} {by_reason[name]}" for name in REASONS if by_reason[name])
    lines.append(f"{len(dropped):6} of {len(verdicts)} documents dropped{counts and f' ({counts})'}")
    of_host, dropped_of = Counter(v.host for v in verdicts), Counter(v.host for v in dropped)
    for host, n in sorted(dropped_of.items(), key=lambda item: (item[0] != HOST, item[0] not in farms(), item[0])):
        lines.append(f"{n:6} of {of_host[host]} from {escape(host)}, {'a farm' if host in farms() else 'not a farm'}")
    lines += _of_the_unusual(verdicts)
    if told := _an_example(dropped):
        lines += ["", f"to see why one was dropped:   obelics explain {escape(str(output))} {escape(told)}"]
    return [*lines, f"to see the whole run on a page: obelics report {escape(str(output))}"]


def _of_the_unusual(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """How many of the unusual but honest pages stayed, and each that did not."""
    stayed = {verdict.url for verdict in verdicts if verdict.kept}
    reasons = {verdict.url: verdict.reason for verdict in verdicts if not verdict.kept}
    yield f"{len(stayed & unusual().keys()):6} of {len(unusual())} unusual but honest pages kept"
    for url in sorted(unusual().keys() - stayed):
        yield f"       {escape(url)}: dropped: {reasons.get(url) or 'as a duplicate, or not extracted'}"


def _an_example(dropped: Sequence[Verdict]) -> str | None:
    """A page whose reasons are worth reading: one of the farm, a spun one if there is one."""
    return min((v.url for v in dropped if v.host == HOST), key=lambda url: ("/spun/" not in url, url), default=None)
