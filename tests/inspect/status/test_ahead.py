"""When a step will be done follows from what its units read, not from how many they are."""

from __future__ import annotations

from obelics_pipeline.inspect.status.ahead import ahead
from obelics_pipeline.inspect.status.step import Step, begun
from tests.inspect.status.made import NOW, event

LATER = NOW + 1000  # a look at it; the rate counts to the last unit


def step(**values: object) -> Step:
    return begun(event("stage_started", stage="extract", **({"units": 4, "done": 0} | values)))


def test_it_is_reckoned_by_bytes_of_input() -> None:
    found = step(input={"bytes": 1000}, input_done={})
    found.unit_done(event("unit_done", 10.0, input={"bytes": 100}))
    reckoned = ahead(found, 0, LATER)
    assert (reckoned.noun, reckoned.done, reckoned.whole, reckoned.rate) == ("bytes", 100, 1000, 10.0)
    assert (reckoned.seconds_left, reckoned.at) == (90.0, NOW + 10)
    assert reckoned.how == "by bytes of input"


def test_what_an_earlier_start_did_is_done_and_is_not_in_the_rate() -> None:
    found = step(done=2, input={"urls": 1000}, input_done={"urls": 600})
    found.unit_done(event("unit_done", 10.0, input={"urls": 100}))
    reckoned = ahead(found, 0, LATER)
    assert (reckoned.done, reckoned.rate, reckoned.seconds_left) == (700, 10.0, 30.0)


def test_a_failed_unit_is_not_to_do_any_more() -> None:
    found = step(input={"bytes": 1000}, input_done={})
    found.unit_done(event("unit_done", 5.0, input={"bytes": 100}))
    found.unit_failed(event("unit_failed", 10.0, input={"bytes": 400}))
    assert ahead(found, 0, LATER).seconds_left == 10.0
    assert (found.to_do, found.failed) == (2, 1)


def test_urls_of_units_at_work_count_as_done() -> None:
    found = step(input={"urls": 1000}, input_done={})
    found.unit_done(event("unit_done", 10.0, input={"urls": 100}))
    reckoned = ahead(found, 300, NOW + 20)  # they were done since the last unit was
    assert (reckoned.done, reckoned.rate, reckoned.seconds_left, reckoned.at) == (400, 20.0, 30.0, NOW + 20)
    assert ahead(found, 5000, LATER).done == 1000


def test_without_input_or_with_two_kinds_it_is_reckoned_by_units_and_says_so() -> None:
    for more in ({}, {"input": {"bytes": 10, "rows": 10}, "input_done": {}}):
        found = step(**more)
        found.unit_done(event("unit_done", 10.0))
        assert (ahead(found, 0, LATER).noun, ahead(found, 0, LATER).seconds_left) == ("units", 30.0)
        assert "units, whose sizes differ" in ahead(found, 0, LATER).how


def test_before_the_first_unit_nothing_is_reckoned() -> None:
    assert ahead(step(input={"bytes": 1000}, input_done={}), 0, LATER).seconds_left is None
