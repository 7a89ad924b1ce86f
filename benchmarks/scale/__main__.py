"""What a run of any size costs its driver and a worker, by measurement of made-up runs, and what a crawl is at that.

    python -m benchmarks.scale [--tiny] [--json FILE]
    python -m benchmarks.scale --costs FILE

Every step is measured at several numbers of units and of rows, and a + b * units + c * rows is fitted to its CPU time,
and to a worker's memory: a driver's is lost, at these sizes, in what the allocator keeps. A run of ten times the
largest size is made, and its driver may differ by 20 % from what the fit says: else the exit code is 1. `--tiny` is for
a first look, and holds nothing to anything. `--json` writes what was fitted, as `obelics check` reads it. `--costs`
measures nothing.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.scale.crawl import crawl_tables
from benchmarks.scale.driver import drive
from benchmarks.scale.engines import local_engine, ray_engine
from benchmarks.scale.fit import Size, fitted
from benchmarks.scale.process import Measure, Spent, alone, each_of, least
from benchmarks.scale.store import listings
from benchmarks.scale.worker import dealing, requests_of_a_bucket, tar_of_index, worker_steps
from obelics_pipeline.core.interval import rounded
from obelics_pipeline.inspect.check.driver_costs import FittedCost

TIMES = 10  # the largest fitted size, for the check
MOST_OFF = 0.2  # of the measured driver

MANY, TINY = (10, 40, 120), (2, 4)  # units
ROWS_OF_UNIT = 1_000  # at the same place of both lists


class Group(NamedTuple):
    """Steps that are measured by one function, at each of these sizes."""

    measure: Measure
    sizes: Sequence[Size]


def grid(units: Sequence[float], rows: Sequence[float]) -> list[Size]:
    """Every number of units with every number of rows."""
    return [Size(*size) for size in product(units, rows)]


def groups_of(units: Sequence[int]) -> list[Group]:
    """What is measured beside the driver of a run. Messages of a bucket are many, and come from few units or many."""
    rows = [of * ROWS_OF_UNIT * 5 for of in units]
    alone_ = [Size(of * 10, 0) for of in units]
    return [
        Group(worker_steps, grid(units, rows)),
        Group(requests_of_a_bucket, grid(units, rows)),
        Group(tar_of_index, grid(units[:2], [of // 5 for of in rows])),
        Group(dealing, grid(units, rows)),
        Group(local_engine, alone_),
        Group(ray_engine, alone_),
        Group(listings, [Size(of * 3, 0) for of in units]),
    ]


def lowest(measure: Measure, sizes: Sequence[Size], repeats: int) -> list[Mapping[str, Spent]]:
    """What was spent on each size in the cheapest of several tries, each in a process of its own."""
    tries = [alone(each_of, measure, sizes) for _ in range(repeats)]
    print(f"measured: {measure.__name__}", file=sys.stderr, flush=True)
    return [least(of_size) for of_size in zip(*tries, strict=True)]


COSTS: Mapping[str, Callable[[Spent], float]] = {"seconds": attrgetter("seconds"), "bytes": attrgetter("memory")}


def fits(
    sizes: Sequence[Size], found: Sequence[Mapping[str, Spent]], costs: Sequence[str] = tuple(COSTS)
) -> dict[str, Any]:
    """The fitted costs of each step, as JSON."""
    steps = list(dict.fromkeys(step for of_size in found for step in of_size))
    nothing = Spent(0.0, 0)
    values = {}
    for step in steps:
        of_step = [of_size.get(step, nothing) for of_size in found]
        values[step] = {cost: fitted(sizes, [COSTS[cost](spent) for spent in of_step]).to_json() for cost in costs}
    return values


def machine() -> str:
    """What it was measured on, without its name."""
    models = [line.partition(":")[2].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
              if line.startswith("model name")]  # fmt: skip
    return f"{len(models)} x {models[0] if models else platform.machine()}, Python {platform.python_version()}"


def main() -> int:
    """Measure, print, and hold the fit to a larger run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiny", action="store_true", help="small sizes, once each, and no check")
    parser.add_argument("--repeats", type=int, default=2, help="tries at each size, of which the lowest counts")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was fitted")
    parser.add_argument("--costs", type=Path, metavar="FILE", help="print the tables of such a file")
    arguments = parser.parse_args()
    if arguments.costs is not None:
        print(crawl_tables(json.loads(arguments.costs.read_text())))
        return 0
    units, repeats = (TINY, 1) if arguments.tiny else (MANY, arguments.repeats)
    sizes = grid(units, [of * ROWS_OF_UNIT for of in units])
    value: dict[str, Any] = {
        "source": "python -m benchmarks.scale",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": machine(),
        "largest": sizes[-1]._asdict(),
        "driver": fits(sizes, lowest(drive, sizes, repeats), ["seconds"]),
        "others": {},
    }
    held, value["check"] = True, None
    if not arguments.tiny:
        largest = Size(sizes[-1].units * TIMES, sizes[-1].rows * TIMES)
        held, value["check"] = check(value["driver"], largest, alone(each_of, drive, [largest])[0])
    for group in groups_of(units):
        value["others"] |= fits(group.sizes, lowest(group.measure, group.sizes, repeats))
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(value, indent=1) + "\n")
    print(crawl_tables(value))
    return 0 if held else 1


def check(driver: Mapping[str, Any], size: Size, found: Mapping[str, Spent]) -> tuple[bool, dict[str, float]]:
    """Whether the fit says of the driver of a larger run what was measured of it, and both numbers. Prints them."""
    said = {step: FittedCost.from_json(cost["seconds"]).at(*size) for step, cost in driver.items()}
    both = {"units": size.units, "rows": size.rows, "said": sum(said.values())}
    both["measured"] = sum(spent.seconds for spent in found.values())
    held = abs(both["said"] / both["measured"] - 1) <= MOST_OFF
    verdict = "" if held else f": more than {MOST_OFF:.0%} apart"
    told = f"the fit says {both['said']:.1f} s, measured are {both['measured']:.1f} s{verdict}"
    print(f"\nThe driver of {size.units:,.0f} units and {size.rows:,.0f} documents: {told}")
    for step in sorted(found, key=lambda step: -abs(found[step].seconds - said.get(step, 0.0)))[:5]:
        print(f"  {step}: {rounded(said.get(step, 0.0))} s, {rounded(found[step].seconds)} s")
    return held, both


if __name__ == "__main__":
    sys.exit(main())
