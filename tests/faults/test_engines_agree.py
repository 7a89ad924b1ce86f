"""One config, one input, every engine: the same shards, index, manifest and list of duplicates, byte for byte."""

from pathlib import Path

import pytest

from tests.faults.on_ray import run_on_ray
from tests.faults.runs import FEW, command, finish, published

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]


def test_two_workers_agree_with_one(
    twice: list[Path], proxy: str, of_one_worker: dict[str, str], tmp_path: Path
) -> None:
    code, printed = finish(command(twice, tmp_path / "out", 2, FEW), proxy)
    assert code == 0, printed
    assert published(tmp_path / "out") == of_one_worker


def test_ray_on_three_nodes_agrees(
    twice: list[Path], proxy: str, of_one_worker: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", proxy)  # nodes inherit it
    monkeypatch.setenv("no_proxy", "")
    code = run_on_ray(twice, tmp_path / "out", FEW)
    assert code == 0
    assert published(tmp_path / "out") == of_one_worker
