"""Whatever the sites answer, a worker takes no more memory than it is given."""

from collections.abc import Callable
from pathlib import Path

import pytest

from obelics_pipeline.inspect.check.machine import WORKER_BYTES
from tests.faults.faulty_urls import (
    ALL,
    faulty_site,
    fetch_apart,
    fetch_urls_apart,
    kinds_of,
    reasons_of,
    site_of_long_rules,
)
from tests.stages.fetch.site import answer
from tests.stages.fetch.test_decoder import many_markers, many_strips, many_texts

PROMISED = WORKER_BYTES / 2**20  # MiB


@pytest.mark.parametrize(
    "count", [pytest.param(10_000, marks=pytest.mark.slow), pytest.param(100_000, marks=pytest.mark.by_hand)]
)
def test_faulty_urls_have_their_reasons_and_a_worker_stays_small(count: int, tmp_path: Path) -> None:
    with faulty_site() as site:
        fetched = fetch_apart(tmp_path, site, kinds_of(count))
    assert fetched.reasons == reasons_of(count)
    assert fetched.peak < PROMISED


@pytest.mark.slow
@pytest.mark.parametrize(
    ("many", "count"), [(many_strips, 5_000_000), (many_texts, 900_000), (many_markers, 5_000_000)]
)
def test_a_file_that_asks_its_decoder_for_all_memory_costs_itself(
    many: Callable[[int], bytes], count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files of just under fetch.max_bytes that fetch.max_pixels does not stop."""
    monkeypatch.setitem(ALL, "bomb", (answer(200, many(count)), "too_many_pixels"))
    with faulty_site() as site:
        fetched = fetch_apart(tmp_path, site, ["good", "bomb", "good"])
    assert fetched.reasons == {None: 2, "too_many_pixels": 1}
    assert fetched.peak < PROMISED


@pytest.mark.slow
def test_hosts_with_long_rules_cost_a_worker_no_memory_each(tmp_path: Path) -> None:
    with site_of_long_rules() as site:
        urls = [f"http://h{n % 80}.example/picture-{n}" for n in range(160)]
        fetched = fetch_urls_apart(tmp_path, site, urls, {"http_proxy": site.url(""), "no_proxy": ""})
    assert fetched.reasons == {None: 160}
    assert fetched.peak < PROMISED / 2
