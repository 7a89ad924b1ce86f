"""What a crawl takes at fitted costs: hours of the driver one after the other, by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any, NamedTuple

from obelics_pipeline.core.interval import rounded
from obelics_pipeline.inspect.check.driver_costs import FittedCost

DOCUMENTS = 1.9e9  # of a crawl, kept by filters (docs/figures.md)
WARCS, WARC_BYTES = 80_000, 10**9
UNIT_BYTES = (64 * 2**20, 512 * 2**20)


class Row(NamedTuple):
    """One line of the table: what it is called, and its cost for each size of units."""

    name: str
    costs: Sequence[float]


def units_of(unit_bytes: int) -> int:
    """Units of a crawl."""
    return WARCS * ceil(WARC_BYTES / unit_bytes)


def crawl_tables(value: Mapping[str, Any]) -> str:
    """Markdown: the driver by stage; what each engine adds; what a worker spends."""
    units = [units_of(size) for size in UNIT_BYTES]
    titles = [f"units of {size >> 20} MB" for size in UNIT_BYTES]
    by_stage: dict[str, list[float]] = {}
    for step, cost in value["driver"].items():
        sums = by_stage.setdefault(step.partition(":")[0], [0.0] * len(units))
        for place, of in enumerate(units):
            sums[place] += FittedCost.from_json(cost["seconds"]).at(of, DOCUMENTS) / 3600
    rows = [Row(stage, hours) for stage, hours in by_stage.items()]
    rows.append(Row("**all**", [sum(row.costs[place] for row in rows) for place in range(len(units))]))
    parts = [f"Measured {value['date']} on {value['machine']}.", table(["hours of the driver", *titles], rows)]
    dearest = sorted(value["driver"].items(), key=lambda item: -_hours(item[1], units[0]))[:8]
    each = [
        Row(step, [cost["seconds"]["thousand_units"], cost["seconds"]["million_rows"], _hours(cost, units[0])])
        for step, cost in dearest
    ]
    parts.append(table(["dearest steps", "s per 1,000 units", "s per million documents", "hours of a crawl"], each))
    others = [
        Row(step, [cost["seconds"]["thousand_units"], cost["seconds"]["million_rows"],
                   cost["bytes"]["million_rows"] / 1e6])
        for step, cost in value["others"].items()
    ]  # fmt: skip
    parts.append(table(["alone", "s per 1,000 units", "s per million rows", "MB per million rows"], others))
    if value.get("check"):
        check = value["check"]
        told = f"{check['units']:,.0f} units and {check['rows']:,.0f} documents"
        parts.append(f"Held to {told}: {check['said']:.1f} s by the fit, {check['measured']:.1f} s measured.")
    return "\n\n".join(parts)


def _hours(cost: Mapping[str, Any], units: int) -> float:
    return FittedCost.from_json(cost["seconds"]).at(units, DOCUMENTS) / 3600


def table(titles: Sequence[str], rows: Sequence[Row]) -> str:
    """Rows as Markdown."""
    lines = [f"| {' | '.join(titles)} |", "|---|" + "--:|" * (len(titles) - 1)]
    lines += [f"| {row.name} | {' | '.join(rounded(cost) for cost in row.costs)} |" for row in rows]
    return "\n".join(lines)
