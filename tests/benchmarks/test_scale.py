"""What a run costs by its size: fits give back what they were made of, and a made-up run is a run to its driver."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.scale import __main__ as scale
from benchmarks.scale.crawl import crawl_tables
from benchmarks.scale.driver import drive, small_buckets
from benchmarks.scale.fit import Size, fitted
from benchmarks.scale.made_run import DOCUMENTS_OF_A_PART
from benchmarks.scale.process import Spent, least
from obelics_pipeline.core.shards import look_up
from obelics_pipeline.inspect.check.driver_costs import FittedCost, read_driver_costs

SIZES = scale.grid((10, 30, 100), (1_000, 3_000, 10_000))


def test_a_fit_finds_what_comes_once_with_units_and_with_rows() -> None:
    cost = FittedCost(2.0, 0.018, 0.000_014)
    found = fitted(SIZES, [cost.at(*size) for size in SIZES])
    assert (found.once, found.unit, found.row) == pytest.approx((2.0, 0.018, 0.000_014))


def test_no_cost_is_below_zero() -> None:
    found = fitted(SIZES, [max(0.0, 0.001 * size.rows - 1.0) for size in SIZES])
    assert min(found.once, found.unit, found.row) >= 0


def driver(cost: FittedCost) -> dict[str, Any]:
    return {"shard: plan": {"seconds": cost.to_json()}}


@pytest.mark.parametrize(("seconds", "holds"), [(10.0, True), (8.5, True), (12.4, True), (8.2, False), (12.6, False)])
def test_a_driver_that_is_a_fifth_off_is_not_what_the_fit_says(
    seconds: float, holds: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    cost = FittedCost(1.0, 0.004, 0.000_005)
    held, both = scale.check(driver(cost), Size(1000, 1_000_000), {"shard: plan": Spent(seconds, 0)})
    assert held is holds
    assert both["said"] == pytest.approx(10.0) and both["measured"] == seconds
    assert ("more than 20% apart" in capsys.readouterr().out) is not holds


def test_the_lowest_of_several_tries_counts() -> None:
    tries = [{"a": Spent(2.0, 5)}, {"a": Spent(1.0, 7), "b": Spent(3.0, 1)}]
    assert least(tries) == {"a": Spent(1.0, 5), "b": Spent(3.0, 1)}


def test_a_crawl_is_reckoned_from_what_comes_with_units_and_with_documents() -> None:
    value = {
        "date": "2026-01-01", "machine": "a machine", "others": {},
        "driver": driver(FittedCost(0.0, 3.0, 3600 / 1e9)),
    }  # fmt: skip
    tables = crawl_tables(value)
    assert "| shard | 1,000 | 140 |" in tables


@pytest.mark.slow
def test_the_driver_of_a_made_up_run_ends_with_shards_that_validate() -> None:
    spent = drive(Size(3, 900))
    assert {step.partition(":")[0] for step in spent} == {
        *("extract", "dedup", "site", "fetch", "dedup-images", "assemble", "shard", "publish", "validate")
    }
    assert sum(of.seconds for of in spent.values()) > 0


def test_a_run_of_several_buckets_of_look_ups_leaves_the_next_as_they_are() -> None:
    before = look_up.bucket_count(DOCUMENTS_OF_A_PART)
    with small_buckets():
        assert look_up.bucket_count(DOCUMENTS_OF_A_PART) == 2
    assert look_up.bucket_count(DOCUMENTS_OF_A_PART) == before == 1


def test_what_was_fitted_is_read_as_it_was_written(tmp_path: Path) -> None:
    sizes = [Size(1, 100), Size(10, 100), Size(1, 1_000)]
    found = [{"shard: plan": Spent(0.5 * size.units, 1_000)} for size in sizes]
    value = {"source": "a program", "date": "today", "machine": "here"}
    (tmp_path / "costs.json").write_text(json.dumps(value | {"driver": scale.fits(sizes, found, ["seconds"])}))
    costs = read_driver_costs(tmp_path / "costs.json")
    assert costs.seconds_of("shard", 4, 9) == pytest.approx(2.0)
