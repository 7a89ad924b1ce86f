"""A full disk stops a run with one clear line, damages nothing, and the next run goes on from there."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.runs import command, finish, tree

SIZES = ("200k", "900k", "2m", "4m", "6m")  # the disk fills up in one stage after the other


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own; only a superuser may mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZES[0]}", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("a small file system cannot be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.slow
def test_a_full_disk_stops_the_run_resumably_at_every_stage(
    small_disk: Path, warcs: list[Path], proxy: str, tmp_path: Path
) -> None:
    code, printed = finish(command(warcs, tmp_path / "undisturbed"), proxy)
    assert code == 0, printed
    stops = 0
    for size in (*SIZES, "200m"):
        subprocess.run(["mount", "-o", f"remount,size={size}", str(small_disk)], check=True)
        code, printed = finish(command(warcs, small_disk / "out"), proxy)
        if code == 0:
            break
        stops += 1
        assert code == 3, printed
        assert "disk full" in printed.splitlines()[-1], printed
        assert "Traceback" not in printed
    assert stops >= 3
    assert code == 0, printed
    assert tree(small_disk / "out") == tree(tmp_path / "undisturbed")
