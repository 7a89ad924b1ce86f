"""A run of the main job in a process of its own, so that it can be killed; and what its output is."""

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from obelics_pipeline.core.revisions import revisions_of

ROOT = Path(__file__).parents[2]
BESIDE = {"exports", "revisions"}  # what says whereto a run was exported; others than the current revision
BOOKKEEPING = {"events.jsonl", ".lock", ".workers", "inputs.json"}  # times, locks, file dates: no output
SMALL_UNITS = ["reading.unit_bytes=30000", "fetch.buckets=16", "shard.target_bytes=400000", "fetch.retries=0",
               "site.enabled=true"]  # and every stage that needs no model  # fmt: skip
HASTE = ["fetch.robots_txt=false"]  # a host less to ask for each
FEW = ["dedup.buckets=3", "fetch.timeout_seconds=30"]  # a time limit under load is no matter of engines


def command(inputs: Sequence[Path], output: Path, workers: int = 2, sets: Sequence[str] = ()) -> list[str]:
    overrides = [x for value in (*SMALL_UNITS, *sets) for x in ("--set", value)]
    return [
        *(sys.executable, "-m", "obelics_pipeline", "run", "default", "--input", *map(str, inputs)),
        *("--output", str(output), "--workers", str(workers), "--yes", *overrides),  # tests change values on purpose
    ]


def start(arguments: Sequence[str], proxy: str) -> subprocess.Popen[str]:
    """Start a run in a process group of its own, its images asked for through the proxy."""
    environment = os.environ | {"http_proxy": proxy, "PYTHONPATH": str(ROOT), "no_proxy": ""}
    return subprocess.Popen(
        arguments,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def finish(arguments: Sequence[str], proxy: str) -> tuple[int, str]:
    """Run to the end; the exit code and what was printed."""
    process = start(arguments, proxy)
    printed, _ = process.communicate(timeout=600)
    return process.returncode, printed


def kill_all(process: subprocess.Popen[str]) -> None:
    """SIGKILL to the driver and whatever it started."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def workers_of(driver: int) -> list[int]:
    """The processes of a run, by its driver's, other than its driver, its fork server and the resource tracker."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            parent, group = int(fields[1]), int(fields[2])
            line = (entry / "cmdline").read_text()
        except OSError:
            continue
        if group == driver and int(entry.name) != driver and parent != driver and "forkserver" in line:
            found.append(int(entry.name))
    return found


def descendants(pid: int) -> dict[int, str]:
    """The processes beneath a process, with their command lines."""
    parents = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            parents[int(entry.name)] = (parent, (entry / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    found: dict[int, str] = {}
    fresh = {pid}
    while fresh:
        fresh = {child for child, (parent, _) in parents.items() if parent in fresh}
        found |= {child: parents[child][1] for child in fresh}
    return found


def events(output: Path) -> list[dict[str, object]]:
    """The event log so far; a line that is being written is left out."""
    try:
        text = (output / "events.jsonl").read_text()
    except OSError:
        return []
    return [json.loads(line) for line in text.split("\n")[:-1]]


def tree(output: Path) -> dict[str, str]:
    """sha256 of every file of a run's output, by its path; of its current revision, where it has several."""
    folder = revisions_of(output).current()
    return _hashes(folder, (path for path in folder.rglob("*") if not BESIDE & set(_parents(path, folder))))


def _parents(path: Path, folder: Path) -> tuple[str, ...]:
    """The folders between."""
    return path.relative_to(folder).parts[:-1]


def _hashes(folder: Path, paths: Iterable[Path]) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(paths)
        if path.is_file() and path.name not in BOOKKEEPING
    }


def published(output: Path) -> dict[str, str]:
    """sha256 of all that a run is made for."""
    folder = revisions_of(output).current()
    return published_of(_hashes(folder, [*folder.glob("*"), *folder.glob("shards/**/*")]))


def published_of(files: dict[str, str]) -> dict[str, str]:
    """Those of a run's files, by name, that it is made for."""
    found = {name: sha for name, sha in files.items() if name.startswith("shards/") or "/" not in name}
    return {name: sha for name, sha in found.items() if name.endswith((".tar", ".parquet")) or name == "manifest.json"}
