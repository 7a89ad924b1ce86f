"""From a sample to the whole: what grows with the input, what with the buckets, and what is exact."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.interval import Interval
from obelics_pipeline.inspect.check.estimate import Estimate, Scale, StageEstimate, estimate, totals
from obelics_pipeline.inspect.check.meter import Traffic
from obelics_pipeline.inspect.check.sampled_engine import DRIVER, Cost, Step
from obelics_pipeline.stages.assumptions import Assumptions
from tests.inspect.check.made import part, plan, sample

CONFIG = RunConfig.model_validate({"fetch": {"enabled": False}, "dedup": {"buckets": 8}})
ASSUMED = Assumptions()


def stage(found: Estimate, name: str) -> StageEstimate:
    return next(row for row in found.stages if row.stage == name)


def test_a_sample_of_everything_is_exact() -> None:
    found = estimate(sample(), plan(), CONFIG, ASSUMED)
    assert found.everything
    assert found.counts["documents"] == Interval.exactly(40)
    assert found.counts["after_dedup"] == Interval.exactly(36)
    assert stage(found, "extract").cpu_hours == Interval.exactly(4.5 / 3600)
    assert stage(found, "extract").puts == Interval.exactly(4)


def test_the_spread_is_that_of_the_units() -> None:
    found = estimate(sample(), plan(units=20, weight=2000), CONFIG, ASSUMED)
    assert found.counts["documents"] == Interval(200, 400, 600)
    assert stage(found, "extract").written == Interval(20_000, 40_000, 60_000)
    assert not found.everything


def test_requests_for_buckets_grow_with_the_buckets_and_not_with_the_input() -> None:
    small = estimate(sample(), plan(units=2, weight=200), CONFIG, ASSUMED)
    large = estimate(sample(), plan(units=20, weight=2000), CONFIG, ASSUMED)
    # 1 put a unit for candidates, 1 a unit for its group by partition; 3 for each of 8 buckets
    assert stage(small, "dedup").puts.point == 2 + 2 + 8 * 3
    assert stage(large, "dedup").puts.point == 20 + 20 + 8 * 3
    assert stage(large, "dedup").tasks == Interval.exactly(20 + 20 + 8)


def test_what_a_bucket_computes_grows_with_the_input() -> None:
    small = estimate(sample(), plan(units=2, weight=200), CONFIG, ASSUMED)
    large = estimate(sample(), plan(units=20, weight=2000), CONFIG, ASSUMED)
    assert stage(large, "dedup").cpu_hours.point == pytest.approx(10 * stage(small, "dedup").cpu_hours.point)


def test_workers_shorten_what_is_done_side_by_side_only() -> None:
    one = stage(estimate(sample(), plan(200, 20_000, workers=1), CONFIG, ASSUMED), "dedup")
    ten = stage(estimate(sample(), plan(200, 20_000, workers=10), CONFIG, ASSUMED), "dedup")
    assert one.serial_hours == ten.serial_hours
    assert one.serial_hours.point == pytest.approx(100 * 3 / 3600)  # both shuffles, in the driver
    assert (one.wall_hours.point - one.serial_hours.point) == pytest.approx(
        10 * (ten.wall_hours.point - ten.serial_hours.point)
    )
    on_ray = stage(estimate(sample(), plan(200, 20_000, workers=10, engine="ray"), CONFIG, ASSUMED), "dedup")
    assert on_ray.serial_hours.point == 0


def test_a_local_output_costs_no_requests_and_no_storage() -> None:
    assumed = ASSUMED.model_copy(update={"vcpu_hour": 0.0})
    assert totals(estimate(sample(), plan(), CONFIG, assumed).stages).dollars == Interval.exactly(0)
    in_store = totals(estimate(sample(), plan(store=True), CONFIG, assumed).stages)
    paid = in_store.puts.point * 0.005e-3 + in_store.gets.point * 0.0004e-3 + in_store.written.point * 0.023e-9
    assert in_store.dollars.point == pytest.approx(paid)


def test_images_are_asked_for_once_each_and_a_robots_txt_for_each_host() -> None:
    config = CONFIG.model_copy(update={"fetch": CONFIG.fetch.model_copy(update={"enabled": True})})
    made = sample()
    made.steps.append(Step("fetch", "unit", "requests", "a", made.steps[0].cost))
    found = estimate(made, plan(), config, ASSUMED)
    assert stage(found, "fetch").site_requests == Interval.exactly(60 + 4)
    assert found.counts["images"].point == pytest.approx(60 * 0.55)
    assert found.counts["shard_bytes"].point == pytest.approx(32_000 + 64 * 0.55 * 150_000)


def test_packs_that_are_removed_are_not_paid_for() -> None:
    def costs(keep: bool) -> StageEstimate:
        sections = {
            "fetch": CONFIG.fetch.model_copy(update={"enabled": True}),
            "shard": CONFIG.shard.model_copy(update={"keep_packs": keep}),
        }
        made = sample()
        made.steps.append(Step("fetch", "unit", "requests", "a", made.steps[0].cost))
        return stage(estimate(made, plan(store=True), CONFIG.model_copy(update=sections), ASSUMED), "fetch")

    assert costs(True).written == costs(False).written
    packs = 60 * ASSUMED.image_success * ASSUMED.image_bytes * ASSUMED.gb_month / 1e9
    assert costs(True).dollars.point - costs(False).dollars.point == pytest.approx(packs)


@given(
    st.lists(st.tuples(st.integers(1, 10**9), st.integers(0, 10**6)), min_size=1, max_size=6),
    st.integers(1, 10**6),
    st.floats(0, 1e9),
)
def test_the_best_value_lies_within_the_spread(units: list[tuple[int, int]], times: int, shared: float) -> None:
    parts = [part(str(i), weight, documents) for i, (weight, documents) in enumerate(units)]
    scale = Scale(parts, {"warc": times * sum(weight for weight, _ in units)})
    found = scale.up({p.label: float(p.counts["documents"]) for p in parts}, shared)
    slack = 1e-9 * (1 + found.high)
    assert found.low - slack <= found.point <= found.high + slack
    assert found.point == pytest.approx(times * (sum(p.counts["documents"] for p in parts) + shared), rel=1e-6)


def test_each_kind_of_input_is_scaled_by_its_own_measure() -> None:
    parts = [part("a", 100, 10), part("p", 5, 4, kind="pointers")]
    found = Scale(parts, {"warc": 1000, "pointers": 50}).up({"a": 10.0, "p": 4.0})
    assert found == Interval.exactly(100 + 40)


def test_what_a_driver_asks_for_in_vain_is_asked_of_few_units_only() -> None:
    made = sample()
    made.steps.append(Step("extract", DRIVER, "driver", "", Cost(0.0, 0.0, 0, Traffic(gets=10, missed=8))))
    few, many = (estimate(made, plan(n, 100 * n), CONFIG, ASSUMED) for n in (2, 200))
    assert stage(few, "extract").gets.point == 2 + 2 + 10
    assert stage(many, "extract").gets.point == 100 * (2 + 2 + 2)
