"""The hosts that a unit waits for longest are told, with how often and how long they were asked."""

from __future__ import annotations

import itertools
import time

import pytest

from obelics_pipeline.stages.fetch.host_times import TOLD, HostTimes


def test_the_slowest_hosts_are_told_first_and_a_failed_request_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count(step=1.0)
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    times = HostTimes()
    for host in ("slow.example", *(f"{i}.example" for i in range(TOLD))):
        with times.request(host):
            pass
    with pytest.raises(TimeoutError), times.request("slow.example"):
        raise TimeoutError
    told = times.told()
    assert told["requests"] == TOLD + 2
    assert len(told["hosts"]) == TOLD
    last = 2.0 * TOLD + 3
    assert told["hosts"][0] == {
        "host": "slow.example", "requests": 2, "span_seconds": last, "request_seconds": 2.0
    }  # fmt: skip
