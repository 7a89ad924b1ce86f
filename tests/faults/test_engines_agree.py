"""One config, one input, every engine: the same shards, index, manifest and list of duplicates, byte for byte."""

import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from obelics_pipeline.config.ray import RayConfig
from obelics_pipeline.engines.on_ray.engine import RayEngine
from obelics_pipeline.run import run
from tests.engines.cluster import ray_cluster
from tests.faults.runs import SMALL_UNITS, command, finish, start, tree

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]
FEW = ["dedup.buckets=3", "fetch.timeout_seconds=30"]  # a time limit under load is no matter of engines


def published(output: Path) -> dict[str, str]:
    """sha256 of all that a run is made for."""
    found = {name: sha for name, sha in tree(output).items() if name.startswith("shards/") or "/" not in name}
    return {name: sha for name, sha in found.items() if name.endswith((".tar", ".parquet")) or name == "manifest.json"}


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
    with ray_cluster(nodes=2) as cluster:  # and a head
        code = run(
            "default", [str(path) for path in inputs], tmp_path / "out", 1, [*SMALL_UNITS, *FEW],
            open_engine=lambda place, _: RayEngine(cluster.address, None, place, 600, RayConfig(start_seconds=60)),
        )  # fmt: skip
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
