"""Looking up the hosts of a sample: what answers, what does not, and what answers suspiciously."""

import socket
from typing import Any

import pytest

from obelics_pipeline.core.config import FetchingConfig
from obelics_pipeline.inspect.check.names import HOSTS, name_finding

CONFIG = FetchingConfig()


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def answers(monkeypatch: pytest.MonkeyPatch, names: dict[str, str]) -> list[str]:
    """A resolver that knows these names only; returns what it was asked."""
    asked: list[str] = []

    def look_up(host: str, port: int, **_: Any) -> list[Any]:
        asked.append(host)
        if host not in names:
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (names[host], port))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return asked


def urls(*hosts: str) -> list[str]:
    return [f"https://{host}/{i}.jpg" for host in hosts for i in range(2)]


def test_names_that_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, {"a.example": "93.184.216.34"})
    assert name_finding(urls("a.example"), CONFIG).state == "ok"


def test_few_hosts_are_asked_and_those_with_the_most_images(monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = [f"h{i:02d}.example" for i in range(20)]
    asked = answers(monkeypatch, dict.fromkeys(hosts, "93.184.216.34"))
    name_finding([*urls(*hosts), "https://h19.example/more.jpg"], CONFIG)
    assert (len(asked), asked[0]) == (HOSTS, "h19.example")


def test_no_answer_for_any_is_missing_and_for_one_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, {"a.example": "93.184.216.34"})
    assert name_finding(urls("b.example", "c.example"), CONFIG).state == "missing"
    found = name_finding(urls("a.example", "b.example"), CONFIG)
    assert (found.state, "b.example" in found.text) == ("warning", True)


@pytest.mark.parametrize("address", ["10.1.2.3", "127.0.0.1", "169.254.169.254"])
def test_a_private_answer_is_suspicious_unless_it_is_allowed(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    answers(monkeypatch, {"a.example": address})
    found = name_finding(urls("a.example"), CONFIG)
    assert (found.state, "private" in found.text) == ("warning", True)
    assert (
        name_finding(urls("a.example"), CONFIG.model_copy(update={"allow_private": (f"{address}/32",)})).state == "ok"
    )


def test_behind_a_proxy_nothing_is_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = answers(monkeypatch, {})
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    found = name_finding(urls("a.example"), CONFIG)
    assert (found.state, "proxy" in found.text, asked) == ("ok", True, [])
    monkeypatch.setenv("https_proxy", "socks5://proxy.example:1080")
    assert name_finding(urls("a.example"), CONFIG).state == "missing"


def test_a_sample_without_images() -> None:
    assert name_finding([], CONFIG).state == "ok"
