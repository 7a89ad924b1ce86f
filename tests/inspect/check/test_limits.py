"""Settings of a small run are warned of where the input is large, with the value that does."""

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.inspect.check.estimate import Estimate, estimate
from obelics_pipeline.inspect.check.finding import Finding
from obelics_pipeline.inspect.check.limits import limit_findings
from obelics_pipeline.stages.assumptions import Assumptions
from tests.inspect.check.made import plan, sample


def findings(times: int, sets: dict[str, dict[str, int]] | None = None) -> list[Finding]:
    config = RunConfig.model_validate(sets or {})
    found: Estimate = estimate(sample(), plan(2 * times, 200 * times), config, Assumptions())
    return [f for f in limit_findings(sample(), found, config, Assumptions()) if f.about != "fetch.per_host"]


def test_a_small_input_fits() -> None:
    assert findings(10) == []


def test_a_large_one_wants_more_buckets_and_then_fits() -> None:
    found = {finding.about: finding.text for finding in findings(1_000_000)}
    assert found.keys() == {"dedup.buckets", "fetch.buckets"}
    settings = {about: int(text.rpartition("=")[2]) for about, text in found.items()}
    sets = {about.partition(".")[0]: {"buckets": number} for about, number in settings.items()}
    assert findings(1_000_000, sets) == []
    halved = {name: {"buckets": value["buckets"] // 2} for name, value in sets.items()}
    assert findings(1_000_000, halved) != []


def test_a_host_that_a_run_would_wait_long_for_is_told() -> None:
    config = RunConfig()
    few, many = (estimate(sample(), plan(2 * n, 200 * n), config, Assumptions()) for n in (1, 100_000))
    assert limit_findings(sample(), few, config, Assumptions()) == []
    told = [f for f in limit_findings(sample(), many, config, Assumptions()) if f.about == "fetch.per_host"]
    assert "host0.example" in told[0].text and told[0].text.endswith("the run waits for them")
