"""The findings of a check, as lines and tables for a person, and as JSON for a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from obelics_pipeline.core.interval import Interval, rounded
from obelics_pipeline.core.redacted import redacted
from obelics_pipeline.inspect.check.estimate import Estimate, StageEstimate, totals
from obelics_pipeline.inspect.check.finding import Finding, gigabytes
from obelics_pipeline.inspect.check.model_price import ModelPrice
from obelics_pipeline.inspect.check.sample import AFTER, Sample
from obelics_pipeline.stages.assumptions import Assumptions

COLORS = {"ok": "green", "warning": "yellow", "missing": "red"}


def show_finding(console: Console, finding: Finding) -> None:
    """One line, its first word in colour."""
    console.print(f"[{COLORS[finding.state]}]{finding.state:8}[/]", end="", highlight=False)
    console.print(redacted(f"{finding.about}: {finding.text}"), highlight=False, soft_wrap=True, markup=False)


def show_estimate(console: Console, estimate: Estimate, workers: int, store: bool) -> None:
    """The counts and the table by stage."""
    counts = Table(box=None, pad_edge=False, header_style="bold")
    counts.add_column("of the whole input")
    counts.add_column("estimate", justify="right")
    for name, text in _titles(estimate).items():
        if estimate.counts[name].high:
            counts.add_row(text, str(_count(estimate.counts[name])))
    console.print(counts)
    console.print()
    table = Table(box=None, pad_edge=False, header_style="bold")
    requests = ("PUT", "GET") if store else ()
    for title in (
        "stage",
        "tasks",
        "CPU h",
        f"hours of {workers}",
        "GB read",
        "GB written",
        *requests,
        "to sites",
        "$",
    ):
        table.add_column(title, justify="left" if title == "stage" else "right", no_wrap=True)
    for row in estimate.stages:
        table.add_row(row.stage, *(rounded(n.point) for n in _numbers(row, store)))
    table.add_section()
    numbers = _numbers(totals(estimate.stages), store)
    table.add_row("all", *(rounded(n.point) for n in numbers))
    if not estimate.everything:
        table.add_row("  from", *(rounded(n.low) for n in numbers), style="dim")
        table.add_row("  to", *(rounded(n.high) for n in numbers), style="dim")
    console.print(table)


def show_models(console: Console, priced: Sequence[ModelPrice]) -> None:
    """A line for each model that was priced."""
    for price in priced:
        console.print(f"by arithmetic, not in the table: {price.line()}", highlight=False, soft_wrap=True, markup=False)
    if priced:
        console.print()


COUNTS = {
    "records": "records",
    "pages": "pages with documents",
    "documents": "documents kept by filters",
    "urls": "distinct image URLs, at most",
    "hosts": "hosts of images, at most",
    "images": "images downloaded, as assumed",
    "in_shards": "documents in shards, at most",
}


def _titles(estimate: Estimate) -> dict[str, str]:
    """The counts that are shown, with what each stage keeps behind what filters keep."""
    found = {}
    for name, text in COUNTS.items():
        found[name] = text
        if name == "documents":
            after = [name for name in estimate.counts if name.startswith(AFTER)]
            found |= {name: f"after {name.removeprefix(AFTER)}, at most" for name in after}
    return found


def _numbers(row: StageEstimate, store: bool) -> list[Interval]:
    requests = [row.puts, row.gets] if store else []
    sizes = [row.read * 1e-9, row.written * 1e-9]
    return [row.tasks, row.cpu_hours, row.wall_hours, *sizes, *requests, row.site_requests, row.dollars]


def _count(value: Interval) -> Interval:
    return Interval(float(round(value.low)), float(round(value.point)), float(round(value.high)))


def notes(sample: Sample, estimate: Estimate, assumed: Assumptions, used: Sequence[str], store: bool) -> list[str]:
    """Notes to the table: what was measured, and what was assumed, with its source."""
    parts = f"{len(sample.parts)} of {sample.asked} sampled units, in {sample.seconds:,.0f} s"
    spread = "only times are uncertain: the sample is the whole input" if estimate.everything else SPREAD
    lines = [f"measured on this machine with one worker: {parts}; {spread}", DUPLICATES]
    lines += [] if store else ["the output is local: storage and requests cost nothing"]
    if (packs := estimate.counts["pack_bytes"]).high:
        kept, price = estimate.bytes_kept, packs * (assumed.gb_month * assumed.months / 1e9)
        with_them, without = gigabytes(kept.point), gigabytes((kept - packs).point)
        told = f"storage: {with_them} with packs of images, {without} once they are removed (shard.keep_packs: false)"
        lines.append(told + (f"; packs cost {price} dollars in {assumed.months:g} months" if store else ""))
    for name in used:
        field = type(assumed).model_fields[name]
        value = getattr(assumed, name)
        source = field.description if value == field.default else "as given or measured"
        lines.append(f"assumed: {name}={value:.6g}: {source}")
    return lines


SPREAD = "from and to: as if every unit were like the cheapest and the dearest of the sample (by stage: --json)"
DUPLICATES = "duplicates outside the sample are unknown: dedup will keep fewer documents"


def as_json(
    findings: Sequence[Finding],
    estimate: Estimate | None,
    assumed: Assumptions,
    sample: Sample | None,
    priced: Sequence[ModelPrice] = (),
) -> Mapping[str, Any]:
    """Everything that was found."""
    value: dict[str, Any] = {
        "findings": [vars(finding) for finding in findings],
        "assumptions": assumed.model_dump(),
    }
    if sample is not None:
        value["sample"] = {
            "units": [vars(part) for part in sample.parts],
            "counts": dict(sorted(sample.whole.items())),
            "urls": len(sample.urls),
            "hosts": len(sample.hosts),
            "problems": sample.problems,
            "seconds": sample.seconds,
        }
    if estimate is not None:
        value["estimate"] = {
            "counts": {name: number.to_json() for name, number in estimate.counts.items()},
            "stages": [stage.to_json() for stage in estimate.stages],
            "total": totals(estimate.stages).to_json(),
            "memory_bytes": estimate.memory,
            "driver": None
            if estimate.driver is None
            else {
                "seconds": estimate.driver.seconds.to_json(),
                "source": estimate.driver.source,
            },
            "everything_sampled": estimate.everything,
            "models": [price.to_json() for price in priced],
        }
    return redacted(value)
