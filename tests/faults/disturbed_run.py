"""A small run as a command in processes of its own, ways to disturb it, and what the next command makes of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from obelics_pipeline.core.revisions import revisions_of
from obelics_pipeline.core.storage import Location
from tests.core.storage.runs import objects
from tests.faults.runs import ROOT, descendants, events, published, published_of
from tests.small import arguments, write_warc

INPUTS, PAGES = 3, 24
HANGS = 600  # seconds after which a command is taken for hanging: Ray and Beam start slowly on a busy machine
MAIN = "import sys\nfrom obelics_pipeline.cli.main import main\n{}\nsys.exit(main(sys.argv[1:]))"
AGREED = ("--yes",)


class NotSeen(Exception):
    """A command did not come to where it was to be disturbed, or did not end."""


@dataclass(frozen=True)
class How:
    """A way to give the command: further words of it, what it is a command of, code before it, its environment."""

    words: tuple[str, ...] = AGREED
    before: tuple[str, ...] = ()
    code: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)


class Run:
    """A command, in a process group of its own. What it says goes to a file: what it leaves behind may outlive it."""

    def __init__(self, words: list[str], environment: Mapping[str, str], log: Path) -> None:
        self._log = log
        with log.open("w") as out:
            self._process = subprocess.Popen(
                words, env=environment, stdout=out, stderr=subprocess.STDOUT, start_new_session=True
            )
        self.pid = self._process.pid

    def ended(self) -> bool:
        return self._process.poll() is not None

    def end(self) -> tuple[int, str]:
        """Its exit code, and what it said. Raises NotSeen for one that hangs."""
        try:
            code = self._process.wait(HANGS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise NotSeen(f"a command did not end within {HANGS} s; it said: {self._said()[-200:]}") from None
        return code, self._said()

    def kill(self) -> None:
        """End it and all that it started."""
        for pid in [*descendants(self.pid), self.pid]:
            send(pid, signal.SIGKILL)
        self._process.wait(HANGS)

    def until(self, reached: Callable[[], bool]) -> None:
        """Wait until it came so far. Raises NotSeen where it does not."""
        deadline = time.monotonic() + HANGS
        while not reached():
            if self.ended() or time.monotonic() > deadline:
                raise NotSeen(f"a command was not there to be disturbed; it said: {self._said()[-200:]}")
            time.sleep(0.005)

    def _said(self) -> str:
        return self._log.read_text(errors="replace").strip()


@dataclass(frozen=True)
class World:
    """The input of every run, and the shards of an undisturbed run over it."""

    folder: Path
    expected: Mapping[str, str]

    def start(self, output: Location, how: How | None = None) -> Run:
        how = how or How()
        told = arguments(
            sorted(self.folder.glob("*.warc")), output, "reading.unit_bytes=5000", "shard.target_bytes=20000",
            "dedup.enabled=true",
        )  # fmt: skip
        words = [*how.before, sys.executable, "-c", MAIN.format(how.code), *told, "--workers", "2", *how.words]
        log, name = tempfile.mkstemp(dir=self.folder, suffix=".txt")
        os.close(log)
        return Run(words, os.environ | {"PYTHONPATH": str(ROOT)} | how.environment, Path(name))

    def disturbed(self, output: Path, how: How | None = None, units: int = 3) -> Run:
        """A run that has done some units and goes on."""
        run = self.start(output, how)
        run.until(lambda: sum(event["event"] == "unit_done" for event in events(output)) >= units)
        return run

    def by(self, how: How, folder: Path) -> World:
        """The same input, and what an undisturbed run makes of it that is given in another way."""
        code, said = self.start(folder, how).end()
        assert code == 0, said
        return replace(self, expected=published(folder))

    def verdict(self, output: Location, disturbed: Run, then: How | None = None) -> str:
        """How the disturbed command ended, and what the command, given `then`, makes of it."""
        code, said = disturbed.end()
        told = f"exit {code}: {_last(said)}" + (" TRACEBACK" if "Traceback" in said else "")
        again, said = self.start(output, then).end()
        if again:
            return f"WRONG, exit {again} afterwards ({_last(said)}); {told}"
        return f"{'same' if results(output) == self.expected else 'WRONG: other shards'}; {told}"


def _last(said: str) -> str:
    return (said.splitlines() or ["nothing"])[-1]


def results(output: Location) -> dict[str, str]:
    """sha256 of the results of the current revision, by name."""
    if isinstance(output, Path):
        return published(output)
    return published_of(objects(revisions_of(output).current()))


def send(pid: int, number: signal.Signals) -> None:
    """Send a signal to a process, which may have ended by itself."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


@contextmanager
def a_world() -> Iterator[World]:
    """The input, and an undisturbed run over it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(INPUTS):
            write_warc(folder / f"{number}.warc", [f"bench {number} of {n}" for n in range(PAGES)])
        code, said = World(folder, {}).start(folder / "undisturbed").end()
        assert code == 0, said
        yield World(folder, published(folder / "undisturbed"))


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
