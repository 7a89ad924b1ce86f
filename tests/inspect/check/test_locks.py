"""A file system that lets two runs in at once is named."""

import fcntl
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.inspect.check import locks
from obelics_pipeline.inspect.check.locations import output_findings
from obelics_pipeline.inspect.check.locks import UNKNOWN, file_system, lock_findings

MOUNTS = """\
/dev/sda1 / ext4 rw 0 0
/dev/sda2 /data xfs rw 0 0
server:/x /data/shared\\040work nfs4 rw 0 0
mds:/scratch /data/lustre lustre rw 0 0
old /data/twice cifs rw 0 0
new /data/twice fuse.sshfs rw 0 0
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/run", "ext4"),
        ("/data/run", "xfs"),
        ("/database", "ext4"),
        ("/data/shared work/run/x", "nfs4"),
        ("/data/lustre", "lustre"),
        ("/data/twice/run", "fuse.sshfs"),
    ],
)
def test_the_nearest_mount_above_says_the_type(path: str, kind: str) -> None:
    assert file_system(Path(path), MOUNTS) == kind


@pytest.mark.parametrize("mounts", ["", "\n", "/dev/sda2 /data xfs rw 0 0\n"])
def test_a_place_on_no_mount_is_of_an_unknown_type(mounts: str) -> None:
    assert file_system(Path("/home/run"), mounts) == UNKNOWN


def findings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> list[tuple[str, str]]:
    (tmp_path / "mounts").write_text(f"/dev/sda1 / ext4 rw 0 0\nx {tmp_path / 'run'} {kind} rw 0 0\n")
    monkeypatch.setattr(locks, "MOUNTS", tmp_path / "mounts")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "probe").touch()
    return [(finding.state, finding.text) for finding in lock_findings(tmp_path / "run" / "probe")]


def test_a_disk_whose_locks_hold_is_no_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert findings(tmp_path, monkeypatch, "ext4") == []


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "lustre", "cifs", "fuse.sshfs"])
def test_a_shared_file_system_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    ((state, text),) = findings(tmp_path, monkeypatch, kind)
    assert state == "warning"
    assert f"is {kind}," in text
    assert "on one machine" in text


def test_two_processes_that_both_get_the_lock_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fcntl, "flock", lambda *_: None)  # here it locks nothing, so the other process may
    ((state, text),) = findings(tmp_path, monkeypatch, "nfs")
    assert (state, "given to another as well" in text, "bucket" in text) == ("missing", True, True)


def test_a_file_system_without_locks_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object) -> None:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", unknown)
    ((state, text),) = findings(tmp_path, monkeypatch, "lustre")
    assert (state, "no locks (Function not implemented)" in text) == ("missing", True)


def test_a_process_that_cannot_be_started_proves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: SimpleNamespace(returncode=1))
    assert findings(tmp_path, monkeypatch, "ext4") == []


def test_an_output_is_checked_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mounts").write_text(f"x {tmp_path} nfs4 rw 0 0\n")
    monkeypatch.setattr(locks, "MOUNTS", tmp_path / "mounts")
    _, found = output_findings(str(tmp_path / "new"), "default", RunConfig())
    assert [(finding.about, finding.state) for finding in found] == [("output", "ok"), ("locks", "warning")]
    assert not (tmp_path / "new").exists()
