"""What a driver costs is read from a measured file, and takes the place of what a few units would make of it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from obelics_pipeline.core.config import RunConfig, load_config
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.interval import Interval
from obelics_pipeline.inspect.check.driver_costs import MEASURED, Driver, DriverCosts, FittedCost, read_driver_costs
from obelics_pipeline.inspect.check.estimate import estimate
from obelics_pipeline.jobs.stages import STAGES, stages_of
from obelics_pipeline.stages.assumptions import Assumptions
from tests.inspect.check.made import plan, sample

CONFIG = RunConfig.model_validate({"fetch": {"enabled": False}, "dedup": {"buckets": 8}})
COSTS = DriverCosts(
    {"extract: plan": FittedCost(1, 0.5, 0), "extract: units": FittedCost(2, 0, 0.25)},
    source="by hand",
)


def test_a_stage_that_was_measured_grows_with_units_and_documents() -> None:
    found = estimate(sample(), plan(units=20, weight=2000), CONFIG, Assumptions(), costs_of_driver=COSTS)
    extract = next(row for row in found.stages if row.stage == "extract")
    assert found.counts["documents"] == Interval(200, 400, 600)
    assert extract.serial_hours.point == pytest.approx((3 + 0.5 * 20 + 0.25 * 400) / 3600)
    assert found.driver is not None
    assert found.driver.seconds == Interval(3 + 10 + 50, 3 + 10 + 100, 3 + 10 + 150)


def test_other_stages_are_scaled_from_the_sample() -> None:
    with_, without = (
        estimate(sample(), plan(units=20, weight=2000), CONFIG, Assumptions(), costs_of_driver=costs)
        for costs in (COSTS, None)
    )
    assert [row for row in with_.stages if row.stage != "extract"] == [
        row for row in without.stages if row.stage != "extract"
    ]


def test_a_sample_of_everything_is_measured_and_not_reckoned() -> None:
    found = estimate(sample(), plan(), CONFIG, Assumptions(), costs_of_driver=COSTS)
    assert found.driver is None
    assert found == estimate(sample(), plan(), CONFIG, Assumptions())


def test_the_last_stage_publishes_too() -> None:
    known = [stage for stage in STAGES if stage.name in ("extract", "dedup")]
    costs = replace(COSTS, seconds={"dedup: plan": FittedCost(1, 2, 0), "publish: rest": FittedCost(4, 8, 0)})
    found = estimate(sample(), plan(units=20, weight=2000), CONFIG, Assumptions(), known, costs)
    assert found.driver is not None
    assert found.driver.seconds == Interval.exactly(5 + 10 * 20)


def test_the_hours_of_the_driver_are_told_with_where_they_come_from() -> None:
    found = Driver(Interval.exactly(7200.0), "by hand").finding()
    assert (found.about, found.state) == ("driver", "ok")
    assert "2 h of work that no worker shares (by hand)" in found.text


def test_a_cost_is_the_same_after_it_was_written() -> None:
    cost = FittedCost(0.5, 0.002, 0.000003)
    assert FittedCost.from_json(json.loads(json.dumps(cost.to_json()))).at(7, 11) == pytest.approx(cost.at(7, 11))


def test_the_costs_that_ship_know_every_stage_and_were_held_to_a_run_ten_times_as_large() -> None:
    costs, told = read_driver_costs(MEASURED), json.loads(MEASURED.read_text())
    named = {stage.name for stage in stages_of(load_config("default"))} - {"consent", "score"}
    assert all(costs.seconds_of(name, 1e5, 1e9) for name in [*named, "publish", "validate"])
    assert told["check"]["units"] == 10 * told["largest"]["units"]
    assert told["check"]["said"] == pytest.approx(told["check"]["measured"], rel=0.2)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"driver": {"a: b": {}}}'])
def test_a_file_of_something_else_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "costs.json").write_text(text)
    with pytest.raises(UserError, match=r"^--driver-costs .*costs\.json: not the costs of a driver;[^\n]*$"):
        read_driver_costs(tmp_path / "costs.json")
    with pytest.raises(UserError, match=r"none\.json: cannot be read"):
        read_driver_costs(tmp_path / "none.json")
