"""Kernel messages, GPUs, heartbeats, slow ranks, ends of processes, and the look before the start."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.training.train.health.exit_reason import exit_reason
from obelics_pipeline.training.train.health.gpus import Gpu, parse, refuse_denied
from obelics_pipeline.training.train.health.heartbeat import EXIT_CODE, Heartbeat, heartbeat_path
from obelics_pipeline.training.train.health.kernel_log import KernelLog
from obelics_pipeline.training.train.health.preflight import burn, cores, thread_warning
from obelics_pipeline.training.train.health.slow_ranks import Slow, SlowRanks
from obelics_pipeline.training.train.health.xid import xid_of, xids

REMAPS = [
    "[8663412.123456] NVRM: Xid (PCI:0000:10:1c): 63, pid=11734, Row Remapper: New row marked for remapping, reset gpu",
    "Apr 21 03:12:55 ip-26-0-153-234 kernel: NVRM: Xid (PCI:0000:10:1c): 64, pid='<unknown>', name=<unknown>, failed",
]


def test_the_two_lines_of_a_remapped_row_are_read() -> None:
    first, second = xids(REMAPS)
    assert (first.code, first.pci, first.pid, first.host) == (63, "0000:10:1c", 11734, None)
    assert (second.code, second.pci, second.pid, second.host) == (64, "0000:10:1c", None, "ip-26-0-153-234")
    assert "remapped" in first.meaning.what and not first.meaning.corrupts
    assert second.meaning.corrupts
    assert second.event().where == "ip-26-0-153-234/0000:10:1c" and first.event("here").where == "here/0000:10:1c"


def test_a_host_before_a_colon_is_one_and_other_lines_are_no_message() -> None:
    found = xid_of("compute-7: NVRM: Xid (PCI:0000:a0:00): 79, pid=1, GPU has fallen off the bus.")
    assert found is not None and found.host == "compute-7" and found.code == 79
    assert xid_of("NVRM: loading driver") is None
    unknown = xid_of("NVRM: Xid (PCI:0000:a0:00): 9999, what")
    assert unknown is not None and unknown.meaning.what == "not in the table"


def test_new_lines_of_a_log_come_once_and_whole(tmp_path: Path) -> None:
    path = tmp_path / "kern.log"
    path.write_text("old\n")
    log = KernelLog(path)
    assert list(log.lines()) == []
    with path.open("a") as file:
        file.write("one\ntw")
    assert list(log.lines()) == ["one"]
    with path.open("a") as file:
        file.write("o\n")
    assert list(log.lines()) == ["two"] and list(log.lines()) == []
    path.write_text("x\n")  # rotated
    assert list(log.lines()) == ["x"]


def test_a_log_that_cannot_be_read_has_no_lines(tmp_path: Path) -> None:
    log = KernelLog(tmp_path / "no" / "log")
    assert list(log.lines()) == []


def test_gpus_are_known_by_name_and_their_trouble_is_told() -> None:
    one, two = parse("GPU-1, 123, 00000000:10:1C.0, 0, No, No\nGPU-2, 124, 00000000:A0:1D.0, 2, Yes, [N/A]\n")
    assert one == Gpu("GPU-1", "123", "00000000:10:1C.0", 0) and one.trouble == ""
    assert two.trouble == "2 uncorrected ECC errors, a row to be remapped at the next reset"
    assert parse("GPU-1, 123, 0:10:1C.0") == (Gpu("GPU-1", "123", "0:10:1C.0"),)


@pytest.mark.parametrize("denied", ["GPU-2", "124", "node-9"])
def test_what_is_denied_does_not_start(denied: str) -> None:
    present = [Gpu("GPU-1", "123"), Gpu("GPU-2", "124")]
    with pytest.raises(UserError, match="deny list"):
        refuse_denied(present, ["node-9"], [denied])
    refuse_denied(present, ["node-9"], ["GPU-3", ""])


def test_a_heartbeat_tells_the_step_and_the_end(tmp_path: Path) -> None:
    heart = Heartbeat(heartbeat_path(tmp_path, 3), 60, about={"host": "a"}, interval_seconds=0.02).start()
    heart.beat(41, "evaluation")
    time.sleep(0.2)
    found = json.loads(heartbeat_path(tmp_path, 3).read_text())
    heart.stop()
    assert (found["step"], found["phase"], found["host"]) == (41, "evaluation", "a")
    assert json.loads(heartbeat_path(tmp_path, 3).read_text())["phase"] == "end"


def test_a_rank_that_stalls_ends_in_time_and_shows_where(tmp_path: Path) -> None:
    program = (
        "import time\n"
        "from pathlib import Path\n"
        "from obelics_pipeline.training.train.health.heartbeat import Heartbeat\n"
        f"heart = Heartbeat(Path({str(tmp_path)!r}, 'h', 'rank-00000.json'), 0.5).start()\n"
        "heart.beat(17)\n"
        "def stalled_here():\n    time.sleep(60)\n"
        "stalled_here()\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600)
    assert ended.returncode == EXIT_CODE
    assert "no sign of life for 0.5 s at step 17" in ended.stderr and "stalled_here" in ended.stderr
    assert exit_reason(ended.stderr.splitlines()) == "hang"


def test_a_slow_rank_is_named_and_one_slow_step_is_none() -> None:
    slow = SlowRanks()
    for step in range(60):
        assert slow.feed([1.0, 1.01, 5.0 if step == 30 else 0.99, 1.0]) == []
    found = [s for _ in range(20) for s in slow.feed([1.0, 1.01, 1.6, 1.0])]
    assert {s.rank for s in found} == {2} and found[0].factor == pytest.approx(1.6, rel=0.01)


def test_of_two_ranks_the_slower_one_is_named_and_a_fall_of_all_is_seen() -> None:
    two = SlowRanks()
    assert [s for _ in range(20) for s in two.feed([1.0, 2.0])] == [Slow(1, 2.0)]
    four = SlowRanks()
    for _ in range(80):
        assert four.feed([1.0] * 4) == []
    found = [s for _ in range(15) for s in four.feed([1.5] * 4)]
    assert found and found[0] == Slow(None, 1.5)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("RuntimeError: CUDA error: uncorrectable ECC error encountered", "ecc"),
        ("RuntimeError: CUDA error: an illegal memory access was encountered", "cuda"),
        ("NVRM: Xid (PCI:0000:10:1c): 79, pid=3, GPU has fallen off the bus.\nRuntimeError: CUDA error", "lost_gpu"),
        ("[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(...)\nTraceback (most", "hang"),
        ("ncclSystemError: System call (e.g. socket, malloc) failed\nTraceback", "network"),
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate", "out_of_memory"),
        ("OSError: [Errno 28] No space left on device", "disk_full"),
        ("slurmstepd: error: *** JOB CANCELLED DUE TO TIME LIMIT ***", "preempted"),
        ("Traceback (most recent call last):\nKeyError: 'x'", "code"),
        ("all is well", "unknown"),
    ],
)
def test_ends_are_told_apart(text: str, reason: str) -> None:
    assert exit_reason(text.splitlines()) == reason


def test_more_threads_than_cores_are_warned_of() -> None:
    warning = thread_warning(2, 2, 2)
    assert warning is not None and "OMP_NUM_THREADS=1" in warning and "want 4 cores" in warning
    assert thread_warning(1, 2, 2) is None and cores() >= 1


def test_a_sound_device_gives_the_same_product_each_time() -> None:
    pytest.importorskip("torch")
    found = burn("cpu", 0.1, 64)
    assert found.differing == 0 and found.flops > 0
