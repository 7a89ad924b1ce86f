"""What becomes of a run that the machine disturbs, as a table: `python -m tests.faults.resume_table`.

Each row disturbs the command of one run in another way, then gives the same command again on a sound machine. A row
says how the disturbed command ended, in its last line, and whether the shards are those of an undisturbed run. Some
rows mount a small file system, which only a superuser may do.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from upath import UPath

from obelics_pipeline.core.revisions import current
from obelics_pipeline.core.storage import Location, files_below, location
from tests.core.storage.runs import objects
from tests.faults.runs import ROOT, events, published, published_of, workers_of
from tests.small import arguments, write_warc

INPUTS, PAGES = 3, 24
HANGS = 120  # seconds after which a run is taken for hanging
A_DAY = "import sys, time\nreal = time.time\ntime.time = lambda: real() - 86400\n"
MAIN = "from obelics_pipeline.cli.main import main\nsys.exit(main(sys.argv[1:]))"
NOT_MOUNTED = "not tried: a small file system cannot be mounted here"


@dataclass(frozen=True)
class World:
    """The input of every row, and the shards of an undisturbed run over it."""

    folder: Path
    expected: dict[str, str]

    def start(
        self,
        output: Location,
        before: tuple[str, ...] = (),
        code: str = "import sys\n",
        size: int = 20000,
        **environment: str,
    ) -> Run:
        inputs, sizes = sorted(self.folder.glob("*.warc")), f"shard.target_bytes={size}"
        told = [*arguments(inputs, output, "reading.unit_bytes=5000", sizes, "dedup.enabled=true"), "--yes"]
        told[told.index("--workers") + 1] = "2"
        with_path = os.environ | {"PYTHONPATH": str(ROOT)} | environment
        return subprocess.Popen(
            [*before, sys.executable, "-c", code + MAIN, *told],
            env=with_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def verdict(self, output: Location, disturbed: Run) -> str:
        """How the disturbed command ended, and what the same command makes of it afterwards."""
        said, _ = disturbed.communicate(timeout=HANGS)
        last = said.strip().splitlines()[-1:] or ["nothing"]
        told = f"exit {disturbed.returncode}: {last[0][:110]}" + (" TRACEBACK" if "Traceback" in said else "")
        again = self.start(output)
        said, _ = again.communicate(timeout=HANGS)
        if again.returncode:
            return f"WRONG, exit {again.returncode} afterwards ({said.strip().splitlines()[-1]}); {told}"
        return f"{'same' if _published(output) == self.expected else 'WRONG: other shards'}; {told}"


Run = subprocess.Popen[str]
Row = Callable[[World, Path], str]


def until(process: Run, output: Path, event: str, times: int) -> None:
    """Wait until a run noted an event so many times."""
    deadline = time.monotonic() + HANGS
    while sum(one["event"] == event for one in events(output)) < times and time.monotonic() < deadline:
        if process.poll() is not None:
            return
        time.sleep(0.005)


def killed(whom: Callable[[Run], list[int]], number: signal.Signals) -> Row:
    """Send a signal when three units are done."""

    def row(world: World, folder: Path) -> str:
        process = world.start(folder / "out")
        until(process, folder / "out", "unit_done", 3)
        for one in whom(process):
            os.kill(one, number)
        return world.verdict(folder / "out", process)

    return row


def killed_on_s3(whom: Callable[[Run], list[int]], of_a_revision: bool = False) -> Row:
    """Kill when the output, a prefix of an object store, has four manifests of units more than before.

    `of_a_revision`: the output holds a finished run with other values, which must be readable after the kill.
    """

    def row(world: World, _folder: Path) -> str:
        bucket = location(f"s3://resume-{uuid4().hex}")
        assert isinstance(bucket, UPath)
        bucket.fs.mkdir(bucket.path)
        output, finished = bucket / "out", {}
        if of_a_revision:
            first = world.start(output, size=50000)
            first.communicate(timeout=HANGS)
            finished = _published(output)
        enough = len(_manifests(output)) + 4
        process = world.start(output)
        while process.poll() is None and len(_manifests(output)) < enough:
            time.sleep(0.02)
        for one in whom(process):
            os.kill(one, signal.SIGKILL)
        process.wait(HANGS)
        if of_a_revision and _published(output) != finished:
            return "WRONG: the finished revision is not what it was"
        return world.verdict(output, process)

    return row


def _manifests(output: UPath) -> list[str]:
    return [name for name in files_below(output) if "/manifests/" in name]


def _published(output: Location) -> dict[str, str]:
    """sha256 of the results of the current revision, by name."""
    if isinstance(output, Path):
        return published(output)
    return published_of(objects(current(output)))


def driver(process: Run) -> list[int]:
    return [process.pid]


def a_worker(process: Run) -> list[int]:
    return workers_of(process)[:1]


def everything(process: Run) -> list[int]:
    return [*workers_of(process), process.pid]


def stopped_for_a_while(world: World, folder: Path) -> str:
    process = world.start(folder / "out")
    until(process, folder / "out", "unit_done", 3)
    os.killpg(process.pid, signal.SIGSTOP)
    time.sleep(3)
    os.killpg(process.pid, signal.SIGCONT)
    return world.verdict(folder / "out", process)


def clock_set_back(world: World, folder: Path) -> str:
    process = world.start(folder / "out")
    until(process, folder / "out", "unit_done", 3)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    return world.verdict(folder / "out", world.start(folder / "out", code=A_DAY))


def on_a_disk(*states: str) -> Row:
    """On a file system of its own that is in the first state; before the second command it gets the second."""

    def row(world: World, folder: Path) -> str:
        with mounted(folder, states[0]) as there:
            if not there:
                return NOT_MOUNTED
            process = world.start(folder / "out")
            process.wait(HANGS)
            subprocess.run(["mount", "-o", f"remount,{states[1]}", str(folder)], check=True)
            return world.verdict(folder / "out", process)

    return row


def temporary_folder_full(world: World, folder: Path) -> str:
    full = folder / "tmp"
    full.mkdir()
    with mounted(full, "size=64k") as there:
        if not there:
            return NOT_MOUNTED
        (full / "filler").write_bytes(bytes(64 * 1024))
        return world.verdict(folder / "out", world.start(folder / "out", TMPDIR=str(full)))


def without_shared_memory(world: World, folder: Path) -> str:
    hidden = ("unshare", "--mount", "sh", "-c", 'umount -l /dev/shm && exec "$@"', "sh")
    if subprocess.run([*hidden, "true"], capture_output=True, check=False).returncode:
        return NOT_MOUNTED
    return world.verdict(folder / "out", world.start(folder / "out", before=hidden))


@contextmanager
def mounted(folder: Path, state: str) -> Iterator[bool]:
    """A file system in memory at a folder; False where none may be mounted."""
    mount = ["mount", "-t", "tmpfs", "-o", state, "tmpfs", str(folder)]
    there = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    try:
        yield there
    finally:
        if there:
            subprocess.run(["umount", "-l", str(folder)], check=True)


ROWS: dict[str, Row] = {
    "driver killed": killed(driver, signal.SIGKILL),
    "one worker killed": killed(a_worker, signal.SIGKILL),
    "all processes killed": killed(everything, signal.SIGKILL),
    "SIGTERM to the driver": killed(driver, signal.SIGTERM),
    "Ctrl-C": killed(driver, signal.SIGINT),
    "STOP, three seconds, CONT": stopped_for_a_while,
    "clock set back a day": clock_set_back,
    "S3: driver killed": killed_on_s3(driver),
    "S3: one worker killed": killed_on_s3(a_worker),
    "S3: all processes killed": killed_on_s3(everything),
    "S3: all killed in a revision": killed_on_s3(everything, of_a_revision=True),
    "disk full": on_a_disk("size=150k", "size=200m"),
    "no inodes": on_a_disk("nr_inodes=60", "nr_inodes=100k"),
    "read-only": on_a_disk("ro", "rw"),
    "TMPDIR full": temporary_folder_full,
    "no /dev/shm": without_shared_memory,
}


@contextmanager
def an_object_store() -> Iterator[None]:
    """An S3 server on loopback, which processes find by the environment."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    os.environ |= {"AWS_ENDPOINT_URL": f"http://{host}:{port}", "AWS_ACCESS_KEY_ID": "key"}
    os.environ |= {"AWS_SECRET_ACCESS_KEY": "secret", "AWS_DEFAULT_REGION": "us-east-1"}
    try:
        yield
    finally:
        server.stop()


@contextmanager
def a_world() -> Iterator[World]:
    """The input, and an undisturbed run over it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(INPUTS):
            write_warc(folder / f"{number}.warc", [f"bench {number} of {n}" for n in range(PAGES)])
        process = World(folder, {}).start(folder / "undisturbed")
        said, _ = process.communicate(timeout=HANGS)
        assert process.returncode == 0, said
        yield World(folder, published(folder / "undisturbed"))


def main() -> int:
    wrong = 0
    with an_object_store(), a_world() as world:
        for name, row in ROWS.items():
            with tempfile.TemporaryDirectory() as folder:
                verdict = row(world, Path(folder))
            print(f"{name:28} {verdict}", flush=True)
            wrong += "WRONG" in verdict or "TRACEBACK" in verdict
    print(f"{len(ROWS)} rows, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
