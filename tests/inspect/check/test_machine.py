"""CPUs, memory, file handles and disk are held against what a run takes."""

import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.interval import Interval
from obelics_pipeline.inspect.check.machine import WORKER_BYTES, cpus, disk_finding, machine_findings, memory_bytes


def state(workers: int, about: str, config: RunConfig | None = None) -> str:
    found = {finding.about: finding for finding in machine_findings(config or RunConfig(), workers)}
    return found[about].state


def test_more_workers_than_cpus_is_a_warning() -> None:
    assert state(cpus(), "CPUs") == "ok"
    assert state(cpus() + 1, "CPUs") == "warning"


def test_more_workers_than_memory_holds_is_a_warning_with_how_many_it_does() -> None:
    available = memory_bytes()
    assert available is not None
    (found,) = [f for f in machine_findings(RunConfig(), available // WORKER_BYTES * 2 + 2) if f.about == "memory"]
    assert found.state == "warning"
    assert "--workers" in found.text


@pytest.fixture
def few_handles() -> Iterator[int]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (300, hard))
    yield 300
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_too_few_file_handles_are_missing(few_handles: int) -> None:
    without_images = RunConfig.model_validate({"fetch": {"enabled": False}})
    assert state(1, "file handles", without_images) == "ok"
    assert state(20, "file handles", without_images) == "missing"  # the driver has pipes to them
    assert state(1, "file handles", RunConfig.model_validate({"fetch": {"threads": 32}})) == "missing"  # sockets


def test_a_disk_that_is_too_small_is_missing_and_one_that_may_be_is_a_warning(tmp_path: Path) -> None:
    output = tmp_path / "not" / "there" / "yet"
    assert disk_finding(output, Interval(0, 1, 2)).state == "ok"
    assert disk_finding(output, Interval(0, 1, 1e18)).state == "warning"
    found = disk_finding(output, Interval(1e17, 1e18, 1e19))
    assert found.state == "missing"
    assert str(tmp_path) in found.text
    assert not (tmp_path / "not").exists()
