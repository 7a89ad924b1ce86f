"""Beam makes of an input what the local engine makes of it, byte for byte. A file of its own: it takes minutes."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.runs import FEW, SMALL_UNITS, published, start

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]


@pytest.mark.parametrize("mode", ["in_memory", pytest.param("multi_processing", marks=pytest.mark.by_hand)])
def test_beam_agrees(mode: str, twice: list[Path], proxy: str, of_one_worker: dict[str, str], tmp_path: Path) -> None:
    sets = [x for value in (*SMALL_UNITS, *FEW) for x in ("--set", value)]
    job = [sys.executable, "-m", "obelics_pipeline.beam_jobs.curate", "default", "--input", *map(str, twice)]
    options = [f"--direct_running_mode={mode}", f"--direct_num_workers={1 if mode == 'in_memory' else 2}"]
    process = start([*job, "--output", str(tmp_path / "out"), *sets, *options], proxy)
    try:
        printed, _ = process.communicate(timeout=1400)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    assert process.returncode == 0, printed
    assert published(tmp_path / "out") == of_one_worker
