"""Settings of a small run are warned of where the input is large, with the value that does."""

from obelics_pipeline.check.assumptions import Assumptions
from obelics_pipeline.check.estimate import Estimate, estimate
from obelics_pipeline.check.finding import Finding
from obelics_pipeline.check.limits import limit_findings
from obelics_pipeline.config import RunConfig
from tests.check.made import plan, sample


def findings(times: int, sets: dict[str, dict[str, int]] | None = None) -> list[Finding]:
    config = RunConfig.model_validate(sets or {})
    found: Estimate = estimate(sample(), plan(2 * times, 200 * times), config, Assumptions())
    return limit_findings(found, config, Assumptions())


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
