"""What becomes of a run that something disturbs, as a table: `python -m tests.faults.resume_table [--only WORDS …]`.

Each row disturbs the command of one run in another way, then gives the same command again on a sound machine, or with
another engine, other workers or other code. It says whether the shards are those of an undisturbed run, and how the
disturbed command ended, in its last line.

It needs the extras dev, s3, ray and beam. A row is two runs of about 6 s of CPU time each on the local engine, and took
two to six minutes on two cores with much else to do. Rows that mount a small file system need a superuser; without one
they say that they were not tried.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

from upath import UPath

from obelics_pipeline.core.storage import files_below, location
from tests.core.storage.s3 import serving
from tests.engines.cluster import kill_node, ray_cluster
from tests.faults.disturbed_run import AGREED, How, NotSeen, Run, World, a_world, mounted, results, send
from tests.faults.runs import descendants, workers_of

NOT_MOUNTED = "not tried: a small file system cannot be mounted here"
ONE_WORKER = How((*AGREED, "--workers", "1"))
RAY = How((*AGREED, "--engine", "ray", "--set", "ray.start_seconds=300", "--set", "ray.shuffle_partitions=4"))
BEAM = How((*AGREED, "--engine", "beam"))
A_DAY_BACK = How(code="import time\nreal = time.time\ntime.time = lambda: real() - 86400")
NEWER = """
from obelics_pipeline.core import code_identity
real = code_identity._content
code_identity._content = lambda path: "edited" if path.name == "compose.py" else real(path)
"""  # the code of the stage extract has another content, and does the same
UPGRADED = How(code=NEWER)
OTHER_SHARDS = (*AGREED, "--set", "shard.target_bytes=50000")

Row = Callable[[World, Path], str]


def killed(whom: Callable[[Run], list[int]], number: signal.Signals = signal.SIGKILL, how: How | None = None) -> Row:
    """Send a signal when three units are done. On Ray's part a run on this machine goes on: it starts sooner."""

    def row(world: World, folder: Path) -> str:
        run = world.disturbed(folder / "out", how)
        for pid in whom(run):
            send(pid, number)
        return world.verdict(folder / "out", run)

    return row


def driver(run: Run) -> list[int]:
    return [run.pid]


def a_worker(run: Run) -> list[int]:
    return workers_of(run.pid)[:1]


def everything(run: Run) -> list[int]:
    return [*descendants(run.pid), run.pid]


def ray_process(name: str) -> Callable[[Run], list[int]]:
    """The first process of a run's own Ray whose command line begins so, its folder left out.

    Not an agent of the raylet, which dies with it.
    """

    def found(run: Run) -> list[int]:
        lines = {pid: line.split(" ")[0].rpartition("/")[2] for pid, line in descendants(run.pid).items()}
        return [pid for pid, line in lines.items() if line.startswith(name) and not line.endswith("Agent")][:1]

    return found


def a_node_of_a_cluster(world: World, folder: Path) -> str:
    """One of the two raylets that a run's units are done on."""
    with ray_cluster(nodes=2) as cluster:
        on_it = How((*RAY.words, "--ray-address", cluster.address))
        run = world.disturbed(folder / "out", on_it)
        kill_node(next(iter(cluster.worker_nodes)))
        return world.verdict(folder / "out", run, on_it)


def handed_over(first: How, then: How) -> Row:
    """Kill a run when three units are done, and go on in another way."""

    def row(world: World, folder: Path) -> str:
        run = world.disturbed(folder / "out", first)
        run.kill()
        return world.verdict(folder / "out", run, then)

    return row


def upgraded_when_killed(world: World, folder: Path) -> str:
    """A killed run, given to newer code. Names of units say which code it was, so the shards are those of that code."""
    run = world.disturbed(folder / "out")
    run.kill()
    return world.by(UPGRADED, folder / "undisturbed").verdict(folder / "out", run, UPGRADED)


def upgraded_when_finished(world: World, folder: Path) -> str:
    """A finished run, given to newer code that nobody has agreed to, and then to the same with --yes."""
    world.start(folder / "out").end()
    refused = world.start(folder / "out", How((), code=NEWER))
    return world.by(UPGRADED, folder / "undisturbed").verdict(folder / "out", refused, UPGRADED)


def killed_on_s3(whom: Callable[[Run], list[int]]) -> Row:
    """Kill when the output, a prefix of an object store, has four manifests of units."""

    def row(world: World, _folder: Path) -> str:
        output = _prefix()
        return world.verdict(output, _killed_there(world, output, whom))

    return row


def revision_killed_on_s3(world: World, _folder: Path) -> str:
    """The output holds a finished run with other values, which must be readable after the kill."""
    output = _prefix()
    world.start(output, How(OTHER_SHARDS)).end()
    finished = results(output)
    run = _killed_there(world, output, everything)
    if results(output) != finished:
        return "WRONG: the finished revision is not what it was"
    return world.verdict(output, run)


def _prefix() -> UPath:
    bucket = location(f"s3://resume-{uuid4().hex}")
    assert isinstance(bucket, UPath)
    bucket.fs.mkdir(bucket.path)
    return bucket / "out"


def _killed_there(world: World, output: UPath, whom: Callable[[Run], list[int]]) -> Run:
    """A run that ended when there were four manifests more than before, or went on without who was killed."""
    enough = _manifests(output) + 4
    run = world.start(output)
    run.until(lambda: _manifests(output) >= enough)
    for pid in whom(run):
        send(pid, signal.SIGKILL)
    run.end()
    return run


def _manifests(output: UPath) -> int:
    return sum("/manifests/" in name for name in files_below(output))


def stopped_for_a_while(world: World, folder: Path) -> str:
    run = world.disturbed(folder / "out")
    os.killpg(run.pid, signal.SIGSTOP)
    time.sleep(3)
    os.killpg(run.pid, signal.SIGCONT)
    return world.verdict(folder / "out", run)


def clock_set_back(world: World, folder: Path) -> str:
    """The disturbed command is the one after a kill: it finds files of tomorrow."""
    world.disturbed(folder / "out").kill()
    return world.verdict(folder / "out", world.start(folder / "out", A_DAY_BACK))


def on_a_disk(*states: str) -> Row:
    """On a file system of its own that is in the first state; before the second command it gets the second."""

    def row(world: World, folder: Path) -> str:
        with mounted(folder, states[0]) as there:
            if not there:
                return NOT_MOUNTED
            run = world.start(folder / "out")
            run.end()
            subprocess.run(["mount", "-o", f"remount,{states[1]}", str(folder)], check=True)
            return world.verdict(folder / "out", run)

    return row


def temporary_folder_full(world: World, folder: Path) -> str:
    full = folder / "tmp"
    full.mkdir()
    with mounted(full, "size=64k") as there:
        if not there:
            return NOT_MOUNTED
        (full / "filler").write_bytes(bytes(64 * 1024))
        run = world.start(folder / "out", How(environment={"TMPDIR": str(full)}))
        return world.verdict(folder / "out", run)


def without_shared_memory(world: World, folder: Path) -> str:
    hidden = ("unshare", "--mount", "sh", "-c", 'umount -l /dev/shm && exec "$@"', "sh")
    if subprocess.run([*hidden, "true"], capture_output=True, check=False).returncode:
        return NOT_MOUNTED
    return world.verdict(folder / "out", world.start(folder / "out", How(before=hidden)))


ROWS: dict[str, Row] = {
    "driver killed": killed(driver),
    "one worker killed": killed(a_worker),
    "all processes killed": killed(everything),
    "SIGTERM to the driver": killed(driver, signal.SIGTERM),
    "Ctrl-C": killed(driver, signal.SIGINT),
    "STOP, three seconds, CONT": stopped_for_a_while,
    "clock set back a day": clock_set_back,
    "disk full": on_a_disk("size=150k", "size=200m"),
    "no inodes": on_a_disk("nr_inodes=60", "nr_inodes=100k"),
    "read-only": on_a_disk("ro", "rw"),
    "TMPDIR full": temporary_folder_full,
    "no /dev/shm": without_shared_memory,
    "S3: driver killed": killed_on_s3(driver),
    "S3: one worker killed": killed_on_s3(a_worker),
    "S3: all processes killed": killed_on_s3(everything),
    "S3: all killed in a revision": revision_killed_on_s3,
    "Ray: driver killed": killed(driver, how=RAY),
    "Ray: one worker killed": killed(ray_process("ray::"), how=RAY),
    "Ray: its raylet killed": killed(ray_process("raylet"), how=RAY),
    "Ray: one of two nodes killed": a_node_of_a_cluster,
    "killed, then one worker": handed_over(How(), ONE_WORKER),
    "killed, then on Ray": handed_over(How(), RAY),
    "killed, then on Beam": handed_over(How(), BEAM),
    "killed on Ray, then local": handed_over(RAY, How()),
    "killed on Beam, then local": handed_over(BEAM, How()),
    "killed, then newer code": upgraded_when_killed,
    "finished, then newer code": upgraded_when_finished,
}


def judged(name: str, world: World, folder: Path) -> str:
    """The verdict of a row."""
    try:
        return ROWS[name](world, folder)
    except NotSeen as error:
        return f"WRONG: {error}"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="+", default=[""], metavar="WORDS", help="rows whose name holds one of these")
    only = parser.parse_args().only
    names = [name for name in ROWS if any(words in name for words in only)]
    wrong = 0
    with serving() as environment:
        os.environ |= environment
        with a_world() as world:
            for name in names:
                began = time.monotonic()
                with tempfile.TemporaryDirectory() as folder:
                    verdict = judged(name, world, Path(folder))
                print(f"{name:29} {time.monotonic() - began:4.0f} s  {verdict}", flush=True)
                wrong += "WRONG" in verdict or "TRACEBACK" in verdict
    print(f"{len(names)} rows, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
