"""A result says why, and a table of results gives them back."""

import pytest

from obelics_pipeline.stages.fetch.reason import DROPPED, RETRYABLE
from obelics_pipeline.stages.fetch.result import (
    PLACE_SCHEMA,
    RESULT_SCHEMA,
    FetchResult,
    results_from_table,
    results_to_table,
)

COLUMNS = [*RESULT_SCHEMA.names, *PLACE_SCHEMA.names]


def test_a_table_gives_the_results_back() -> None:
    results = [
        FetchResult("http://a/1", "ok", None, False, "ab" * 32, 10, "jpeg", 20, 30, pack="bucket-0001/ab", offset=7),
        FetchResult.without_image("http://a/2", "timeout"),
        FetchResult.without_image("http://a/3", "robots_txt"),
    ]
    table = results_to_table(results)
    assert table.column_names == COLUMNS
    assert results_from_table(table) == results
    assert results_from_table(table.append_column("more", [[1, 2, 3]])) == results
    assert results_from_table(results_to_table([])) == []


def test_what_was_measured_of_pixels_is_a_column_each_where_it_is_asked_for() -> None:
    results = [
        FetchResult("http://a/1", "ok", None, False, "ab" * 32, 10, "jpeg", 20, 30, quality={"sharpness": 7.0}),
        FetchResult("http://a/2", "ok", None, False, "cd" * 32, 10, "jpeg", 20, 30),
        FetchResult.without_image("http://a/3", "timeout"),
    ]
    table = results_to_table(results, ["one_colour", "sharpness"])
    assert table.column_names == [*COLUMNS, "one_colour", "sharpness"]
    assert table["sharpness"].to_pylist() == [7.0, None, None]
    assert results_from_table(table) == results
    assert results_to_table(results).column_names == COLUMNS


@pytest.mark.parametrize(
    ("reason", "status", "retryable"),
    [
        ("noai_header", "dropped", False), ("robots_txt", "dropped", False), ("too_many_pixels", "dropped", False),
        ("too_many_frames", "dropped", False), ("too_large", "dropped", False), ("private_address", "dropped", False),
        ("timeout", "failed", True), ("dns", "failed", True), ("refused", "failed", True), ("reset", "failed", True),
        ("http_503", "failed", True), ("http_429", "failed", True), ("http_404", "failed", False),
        ("not_an_image", "failed", False), ("truncated_image", "failed", False), ("bad_url", "failed", False),
        ("robots_unavailable", "failed", True), ("host_down", "failed", True), ("tls", "failed", True),
        ("crawl_delay_too_long", "failed", True),
    ],
)  # fmt: skip
def test_status_and_retryable_follow_from_the_reason(reason: str, status: str, retryable: bool) -> None:
    result = FetchResult.without_image("http://a/", reason)
    assert (result.status, result.retryable) == (status, retryable)


def test_no_rule_is_retried() -> None:
    assert not DROPPED & RETRYABLE
