"""One config, one input, every engine: the same shards, index, manifest and list of duplicates, byte for byte."""

import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.faults.on_ray import run_on_ray
from tests.faults.runs import SMALL_UNITS, command, finish, published, start

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]
FEW = ["dedup.buckets=3", "fetch.timeout_seconds=30"]  # a time limit under load is no matter of engines


@pytest.fixture(scope="module")
def inputs(warcs: list[Path], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The demo's files, and one of them once more: every page of it has two captures."""
    again = tmp_path_factory.mktemp("again") / "demo-00002.warc.gz"
    shutil.copyfile(warcs[0], again)
    return [*warcs, again]


@pytest.fixture(scope="module")
def expected(inputs: list[Path], proxy: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    output = tmp_path_factory.mktemp("local") / "out"
    code, printed = finish(command(inputs, output, 1, FEW), proxy)
    assert code == 0, printed
    reasons = set(pq.read_table(output / "duplicates.parquet")["reason"].to_pylist())
    assert {"duplicate_url", "duplicate_text"} <= reasons  # the shuffle had something to say
    return published(output)


def test_two_workers_agree_with_one(inputs: list[Path], proxy: str, expected: dict[str, str], tmp_path: Path) -> None:
    code, printed = finish(command(inputs, tmp_path / "out", 2, FEW), proxy)
    assert code == 0, printed
    assert published(tmp_path / "out") == expected


def test_ray_on_three_nodes_agrees(
    inputs: list[Path], proxy: str, expected: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", proxy)  # nodes inherit it
    monkeypatch.setenv("no_proxy", "")
    code = run_on_ray(inputs, tmp_path / "out", FEW)
    assert code == 0
    assert published(tmp_path / "out") == expected


@pytest.mark.parametrize("mode", ["in_memory", "multi_processing"])
def test_beam_agrees(mode: str, inputs: list[Path], proxy: str, expected: dict[str, str], tmp_path: Path) -> None:
    sets = [x for value in (*SMALL_UNITS, *FEW) for x in ("--set", value)]
    job = [sys.executable, "-m", "beam_jobs.curate", "default", "--input", *map(str, inputs)]
    options = [f"--direct_running_mode={mode}", f"--direct_num_workers={1 if mode == 'in_memory' else 2}"]
    process = start([*job, "--output", str(tmp_path / "out"), *sets, *options], proxy)
    try:
        printed, _ = process.communicate(timeout=1400)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    assert process.returncode == 0, printed
    assert published(tmp_path / "out") == expected
