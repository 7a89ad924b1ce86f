"""An opt-out service: asked in batches and politely, whatever it answers; and what it said is never asked again."""

import gzip
import json
from typing import Any

import pytest

from obelics_pipeline.core.config.consent import OptOutServiceConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.net.failure import FetchError
from obelics_pipeline.stages.consent.service import MAX_FAILURES, Service, read_answer
from tests.stages.consent.registry import Registry, cut, slow, status

URLS = [f"https://a.example/{n}" for n in range(10)]


def ask(
    registry: Registry, urls: list[str] = URLS, **more: Any
) -> tuple[dict[str, bool], list[str | None], list[float]]:
    """What is found, the reasons batch by batch, and the waits."""
    values = {"url": registry.url, "allow_private": ["127.0.0.1/32"], "requests_per_second": 1e6, "timeout_seconds": 5}
    waits: list[float] = []
    service = Service(OptOutServiceConfig.model_validate({**values, **more}), sleep=waits.append)
    found: dict[str, bool] = {}
    reasons = []
    for answered, reason in service.ask(urls):
        found |= answered
        reasons.append(reason)
    return found, reasons, [wait for wait in waits if wait > 0.001]


def test_every_address_is_asked_once_in_batches() -> None:
    with Registry({URLS[3]}) as registry:
        found, reasons, _ = ask(registry, batch=4)
    assert found == {url: url == URLS[3] for url in URLS}
    assert [len(asked.urls) for asked in registry.log] == [4, 4, 2]
    assert [url for asked in registry.log for url in asked.urls] == URLS
    assert reasons == [None, None, None]
    assert {asked.headers["Content-Type"] for asked in registry.log} == {"text/plain"}


def test_a_key_comes_from_the_environment_and_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPT_OUT_KEY", "secret")
    with Registry() as registry:
        ask(registry, key_variable="OPT_OUT_KEY", body="json")
    assert registry.log[0].headers["Authorization"] == "API secret"
    assert registry.log[0].headers["Content-Type"] == "application/json"


@pytest.mark.parametrize("key", [None, "", "a\nb"])
def test_a_missing_key_is_told(monkeypatch: pytest.MonkeyPatch, key: str | None) -> None:
    monkeypatch.delenv("OPT_OUT_KEY", raising=False)
    if key is not None:
        monkeypatch.setenv("OPT_OUT_KEY", key)
    with pytest.raises(UserError, match="OPT_OUT_KEY is not set") as error:
        Service(OptOutServiceConfig(url="https://a.example/", key_variable="OPT_OUT_KEY"))
    assert "a\nb" not in str(error.value)


@pytest.mark.parametrize(
    "bad",
    [
        status(500), status(503), status(429), cut, slow, status(200, b"not json"), status(200, b"[" * 200_000),
        status(200, b'{"urls": 1}'), status(200, b"[]"), status(200, b"\xff"), status(200, b"{}" + b" " * 2_000_000),
        status(200, gzip.compress(b" " * 50_000_000), Content_Encoding="gzip"), status(200, b'{"urls": []}'),
        status(200, json.dumps({"urls": [{"url": u, "optOut": "no"} for u in URLS]}).encode()),
        status(200, json.dumps({"urls": [{"url": "https://other.example/", "optOut": True}, 7, None]}).encode()),
    ],
)  # fmt: skip
def test_a_bad_answer_is_asked_for_again(bad: Any) -> None:
    with Registry({URLS[0]}, [bad]) as registry:
        found, reasons, waits = ask(registry, max_bytes=1_000_000, timeout_seconds=1)
    assert found == {url: url == URLS[0] for url in URLS}
    assert reasons == [None]
    assert len(registry.log) == 2
    assert waits == [1.0]


def test_the_wait_doubles_up_to_its_bound_and_a_retry_after_counts() -> None:
    with Registry(
        first=[status(500)] * 3 + [status(429, Retry_After="7"), status(429, Retry_After="9999")]
    ) as registry:
        _, reasons, waits = ask(registry, backoff_seconds=2, max_wait_seconds=60)
    assert waits == [2, 4, 8, 7, 60]
    assert reasons == [None]


def test_only_what_had_no_answer_is_asked_again() -> None:
    registry = Registry({URLS[1]})
    registry.first = [registry.half, registry.half]
    with registry:
        found, _, _ = ask(registry)
    assert [len(asked.urls) for asked in registry.log] == [10, 5, 2]
    assert found == {url: url == URLS[1] for url in URLS}


@pytest.mark.parametrize("code", [400, 401, 403, 404, 302])
def test_what_will_not_pass_is_not_tried_again(code: int) -> None:
    with Registry(first=[status(code, Location="http://127.0.0.1:1/")] * 5) as registry:
        found, reasons, waits = ask(registry)
    assert found == {}
    assert reasons == ["redirect" if code == 302 else f"http_{code}"]
    assert (len(registry.log), waits) == (1, [])


def test_a_service_that_is_down_is_left_alone() -> None:
    with Registry(first=[status(500)] * 100) as registry:
        found, reasons, _ = ask(registry, batch=1, retries=1)
    assert found == {}
    assert reasons == ["http_500"] * MAX_FAILURES + ["service_down"] * (len(URLS) - MAX_FAILURES)
    assert len(registry.log) == 2 * MAX_FAILURES


def test_the_rate_is_kept() -> None:
    clock = [0.0]

    def sleep(seconds: float) -> None:
        clock[0] += seconds

    with Registry() as registry:
        config = OptOutServiceConfig(url=registry.url, batch=1, requests_per_second=4, allow_private=("127.0.0.1/32",))
        list(Service(config, sleep, lambda: clock[0]).ask(URLS))
    assert clock[0] == pytest.approx((len(URLS) - 1) / 4)


def test_a_private_service_must_be_allowed() -> None:
    with Registry() as registry:
        _, reasons, _ = ask(registry, allow_private=[])
    assert reasons == ["private_address"]
    assert registry.log == []


def test_a_service_is_asked_at_the_port_that_the_config_gives_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with Registry() as registry:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{registry.port}")
        _, reasons, _ = ask(registry, url="http://service.example:9000/query/urls", retries=0)
    assert reasons == [None]
    assert [asked.urls for asked in registry.log] == [URLS]


def test_what_cannot_be_sent_on_a_line_is_not_sent() -> None:
    with Registry() as registry:
        found, _, _ = ask(registry, ["https://a.example/1\nhttps://b.example/", "", "x" * 99_999, URLS[0]])
    assert registry.log[0].urls == [URLS[0]]
    assert found == {URLS[0]: False}


def test_an_answer_may_list_those_that_are_opted_out() -> None:
    registry = Registry({URLS[5]})
    registry.first = [registry.listed]
    with registry:
        found, _, _ = ask(registry, answer="listed")
    assert found == {url: url == URLS[5] for url in URLS}


def test_an_address_may_come_back_in_another_spelling_and_the_stricter_flag_counts() -> None:
    rows = [
        {"url": "http://www.a.example/0/", "optOut": True},
        {"url": URLS[1], "optOut": False},
        {"url": URLS[1], "optOut": True},
        {"url": URLS[2], "optOut": 0},
    ]
    assert read_answer(json.dumps({"urls": rows}).encode(), URLS, listed=False) == {URLS[0]: True, URLS[1]: True}
    with pytest.raises(FetchError, match="bad_answer"):
        read_answer(b"null", URLS, listed=False)
