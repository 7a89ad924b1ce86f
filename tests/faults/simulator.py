"""Whole runs on a disk that fails as a seed says: `python -m tests.faults.simulator --seeds 0 1000`.

One seed draws a story: where processes die, alone or all at once, where the disk is full, whether the power goes,
whether a bit of a file flips, whether the input is replaced by another of the same name and size, whether other values
are given, whether a person agrees to them, whether the clock is set back, how many workers there are, whether a second
command comes in between. The command is given again until nothing fails any more. Then the output must be that of an
undisturbed run, byte for byte; what `validate --deep` still finds must be gone after `--repair` and the command.
Between, a command may only end well, or with one line for a person, and each revision that was whole before it is so
after it.

A seed that fails is printed with its story. `--seed N` tells the same story again: workers and commands take turns that
the seed draws (see `seeded_engine`), the names of hosts and ports are fixed, and so are names that are drawn at random.
`--coverage` tells how often each kind of operation was done, and how often it was disturbed, by what.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import io
import os
import secrets
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count, product
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from obelics_pipeline.core.config import yaml_file
from obelics_pipeline.core.errors import Stopped, UserError, answer_to
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.revisions import revisions_of
from obelics_pipeline.core.storage import TEMPORARY
from obelics_pipeline.jobs import main_job
from obelics_pipeline.jobs.damage import survey
from obelics_pipeline.jobs.deep_validation import repair
from obelics_pipeline.net import client
from obelics_pipeline.policy.opt_outs import lists
from obelics_pipeline.stages.consent import stage as consent_stage
from obelics_pipeline.stages.fetch import robots_observations
from tests.faults.damaged_run import GIVEN, PAGES, PER_PAGE, World
from tests.faults.failing_disk import Dead, Disk, watched
from tests.faults.runs import published
from tests.faults.seeded_engine import Baton, Seeded
from tests.stages.consent.registry import Registry
from tests.stages.fetch.site import Site, answer
from tests.stages.shard.runs import picture

EDITIONS = ("the first", "the other")  # of the input: of equal length, or their units would have other ids
VALUES = ((), ("shard.target_bytes=4000",), ("filters.document={word_count: {min: 1}}",))  # in place of its own
IN_A_ROW = 4  # commands that may fail, at most; then one that is left alone
KINDS = ("kill", "kill", "worker", "power", "full", "rot")  # of what happens at an operation
FEWER = PAGES - 2  # pages of its input
AT_ONCE = 3  # workers, at most
PORTS = (47801, 47802)  # of the site and of the service, in URLs and so in names of files; nobody listens there
NOON = datetime(2026, 6, 15, 12, tzinfo=UTC).timestamp()
SET_BACK_SECONDS = 400 * 86400.0
AGREES = 0.8  # of the commands: a person says yes to what they change
AMONG_RESULTS = 0.5  # of the bits that flip: in what the run is made for, if that is there
Values = tuple[str, ...]
Made = tuple[str, Values]  # the edition and the values that a run was made of
QUIET = ["fetch.threads=1", "dedup.buckets=2"]  # the order of operations follows from the seed; few files


@dataclass
class Story:
    """What happened under a seed, a line each."""

    seed: int
    lines: list[str] = field(default_factory=list)
    done: Counter[str] = field(default_factory=Counter)  # operations by kind
    disturbed: Counter[tuple[str, str]] = field(default_factory=Counter)  # operations by kind, and what happened there

    def tell(self, line: str) -> None:
        self.lines.append(line)


class Simulator:
    """An undisturbed run of each edition by each value, to compare with, and how many operations it takes.

    What is particular to the place of the runs is in the methods below `_begin`.
    """

    kinds = KINDS
    rivals = 0.25  # of the commands: a second one comes in between

    def __init__(self, world: World, work: Path) -> None:
        self._world, self._work = world, work
        self._expected: dict[Made, dict[str, str]] = {}
        self._operations = 0
        sizes = list[int]()
        for edition, values in product(EDITIONS, VALUES):
            sizes.append(world.write(edition))
            disk, story = self._begin(), Story(-1)
            with pytest.MonkeyPatch.context() as patch:
                _settle(patch, Clock())
                wrong = self._command(disk, values, story, Random(0), 1)
            assert not wrong, wrong
            assert story.lines == ["exit 0"], story.lines
            self._operations = max(self._operations, disk.counted)
            self._expected[edition, values] = self._published(revisions_of(disk.folder).current())
            self._end(disk)
        assert len(set(sizes)) == 1, "another size makes other units"

    def tell(self, seed: int) -> tuple[Story, str]:
        """The story of a seed and what is wrong at its end, an empty text if nothing is."""
        random, story, clock = Random(seed), Story(seed), Clock()
        with pytest.MonkeyPatch.context() as patch:
            _settle(patch, clock)
            return self._tell(random, story, clock)

    def _tell(self, random: Random, story: Story, clock: Clock) -> tuple[Story, str]:
        disk = self._begin()
        edition, values = EDITIONS[0], VALUES[0]
        self._world.write(edition)
        try:
            for turn in range(random.randint(1, IN_A_ROW)):
                if turn and random.random() < 0.25:
                    edition = EDITIONS[1 - EDITIONS.index(edition)]
                    self._world.write(edition)
                    story.tell(f"the input is now {edition} edition")
                if turn and random.random() < 0.4:
                    values = random.choice(VALUES)
                    story.tell(f"the values are now {values or 'the first'}")
                if random.random() < 0.2:
                    clock.shift(random.uniform(-SET_BACK_SECONDS, SET_BACK_SECONDS))
                    story.tell(f"the clock is now {clock}")
                if wrong := self._disturbed(disk, random, values, story):
                    return story, wrong
            return story, self._left_alone(disk, edition, values, story)
        finally:
            self._end(disk)

    def _begin(self) -> Disk:
        """Where the runs of a story lie: nothing is there yet."""
        return Disk(self._work / "run")

    def _end(self, disk: Disk) -> None:
        """Remove all that is there."""
        shutil.rmtree(disk.folder, ignore_errors=True)

    def _befall(self, disk: Disk, kind: str) -> Callable[[], None]:
        """What happens at an operation."""
        return {"full": disk.full, "worker": disk.kill_worker}.get(kind, disk.kill)

    def _watched(self, disk: Disk, _random: Random) -> AbstractContextManager[object]:
        """Count the operations, and let them fail."""
        return watched(disk)

    def _published(self, folder: Any) -> dict[str, str]:
        """sha256 of all that a revision is made for, by name; `folder` is its own."""
        return published(folder)

    def _disturbed(self, disk: Disk, random: Random, values: Values, story: Story) -> str:
        disk.restart()
        number, kind = self._number(random), random.choice(self.kinds)
        disk.fails[number] = self._befall(disk, kind)
        rival, at_once, agrees = random.random() < self.rivals, random.randint(1, AT_ONCE), random.random() < AGREES
        stood = self._standing(disk)
        wrong = self._command(disk, values, story, random, at_once, rival, agrees)
        reached = not disk.fails
        if reached:
            story.disturbed[disk.names[number - 1].split()[0], kind] += 1
            story.tell(f"{kind} at operation {number}: {disk.names[number - 1]}")
        if kind == "power":
            stood |= set() if reached else self._standing(disk)  # what is told to be finished is on the disk
            story.lines += disk.cut_power(random)
        if not wrong and (gone := stood - self._standing(disk)):
            others = {made: self._others(disk, *made) for made in gone}
            return f"a finished run stood here, and does no more: {others}"
        if kind == "rot":
            here = revisions_of(disk.folder).current()
            results = [here / name for name in self._results(here)] if random.random() < AMONG_RESULTS else []
            story.tell(disk.flip(random, GIVEN, results))
        return wrong

    def _number(self, random: Random) -> int:
        """Of the operation that something happens at: any, or an early one, since a command may have few to do.

        A sixth of the commands is left alone.
        """
        most = self._operations * 3 // 2
        return random.randint(1, most) if random.random() < 0.5 else int(most ** random.random())

    def _standing(self, disk: Disk) -> set[Made]:
        """What the revisions were made of that are told to be whole, and are."""
        folders = [RunFolder(disk.folder, number) for number in revisions_of(disk.folder).numbers()]
        whole = [self._results(folder.path) for folder in folders if folder.is_validated()]
        return {made for made, files in self._expected.items() if files in whole}

    def _results(self, folder: Any) -> dict[str, str]:
        """What is published in a folder of a run, without drafts that a kill left."""
        return {name: sha for name, sha in self._published(folder).items() if TEMPORARY not in name}

    def _command(
        self,
        disk: Disk,
        values: Values,
        story: Story,
        random: Random,
        at_once: int,
        rival: bool = False,
        agrees: bool = True,
    ) -> str:
        """Give the command, or two at the same time; what they must not have done, if they did."""
        baton, wrong = Baton(random), list[str]()
        lists._opened.cache_clear()  # a command is a process of its own
        baton.take_first()
        main, left = baton.gate(), 1 + rival
        assert main is not None

        def run() -> int:
            engine = functools.partial(self._engine, disk, baton, at_once)
            return self._world.run(disk.folder, agrees, [*QUIET, *values], engine)

        def give(who: str) -> None:
            nonlocal left
            wrong.append(self._outcome(run, story, who))
            left -= 1
            if not left:
                baton.wake(main)

        with self._watched(disk, random), silence():
            disk.turn = baton.pass_on
            baton.start(lambda: give(""))
            if rival:
                baton.start(lambda: give("a second command: "))
            baton.wait()
        story.done += Counter(name.split()[0] for name in disk.names)
        return "; ".join(filter(None, wrong))

    def _outcome(self, run: Callable[[], int], story: Story, who: str) -> str:
        try:
            story.tell(f"{who}exit {run()}")
        except Dead:
            pass
        except (UserError, Stopped) as error:
            story.tell(f"{who}exit {error.exit_code}: {error}")
            return f"a message of several lines: {error}" if "\n" in str(error) else ""
        except BaseException as error:
            if isinstance(error, OSError) and (answer := answer_to(error)) is not None:
                story.tell(f"{who}exit {answer.exit_code}: {answer}")
                return ""
            return f"{who}traceback: {''.join(traceback.format_exception(error))[-1500:]}"
        return ""

    def _engine(self, disk: Disk, baton: Baton, at_once: int, folder: Path, _config: object) -> Seeded:
        return Seeded(folder, disk, baton, at_once)

    def _left_alone(self, disk: Disk, edition: str, values: Values, story: Story) -> str:
        disk.restart()
        if wrong := self._command(disk, values, story, Random(0), 1):
            return wrong
        if story.lines[-1] != "exit 0":
            return f"left alone, the command ended with {story.lines[-1]}"
        if others := self._others(disk, edition, values):
            return f"the output is another than that of an undisturbed run: {others}"
        return self._repaired(disk, edition, values, story) if survey(RunFolder(disk.folder)).damaged else ""

    def _repaired(self, disk: Disk, edition: str, values: Values, story: Story) -> str:
        """Set aside what nothing had to read, and give the command once more."""
        story.tell("validate --repair")
        repair(disk.folder)
        disk.restart()
        if wrong := self._command(disk, values, story, Random(0), 1):
            return wrong
        if left := survey(RunFolder(disk.folder)).damaged:
            return f"damaged after --repair and the command: {dict(left)}"
        others = self._others(disk, edition, values)
        return f"after --repair and the command the output is another: {others}" if others else ""

    def _others(self, disk: Disk, edition: str, values: Values) -> list[str]:
        """The files of the output that an undisturbed run has not, or otherwise."""
        expected = self._expected[edition, values]
        found = self._published(revisions_of(disk.folder).current())
        return sorted({name for name, _ in found.items() ^ expected.items()})


class Clock:
    """The date of the machine, which may be set back or ahead between two commands."""

    def __init__(self) -> None:
        self._now = NOON

    def shift(self, seconds: float) -> None:
        self._now += seconds

    def seconds(self) -> float:
        self._now += 0.001
        return self._now

    def now(self, zone: Any = None) -> datetime:
        return datetime.fromtimestamp(self.seconds(), zone)

    def __str__(self) -> str:
        return self.now(UTC).date().isoformat()


def _settle(patch: pytest.MonkeyPatch, clock: Clock) -> None:
    """Let nothing but the seed decide, while the patch lasts."""
    names = count()
    patch.setattr(secrets, "token_hex", lambda size: f"{next(names):0{2 * size}x}")
    patch.setattr(tempfile, "_name_sequence", map("{:08x}".format, count()))
    patch.setattr(time, "time", clock.seconds)
    listdir, scandir = os.listdir, os.scandir
    patch.setattr(os, "listdir", lambda *where: sorted(listdir(*where)))
    patch.setattr(os, "scandir", lambda *where: _Sorted(scandir(*where)))
    patch.setattr(robots_observations, "datetime", clock)
    patch.setattr(consent_stage, "datetime", Clock())  # the day of an answer is told with each document
    patch.setattr(main_job, "_stop_on_signal", contextlib.nullcontext)  # handlers are the main thread's alone


class _Sorted:
    """The entries of a folder, by name: a file system has an order of its own."""

    def __init__(self, entries: Any) -> None:
        with entries:
            self._entries = iter(sorted(entries, key=lambda entry: str(entry.name)))

    def __enter__(self) -> Iterator[Any]:
        return self._entries

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Any]:
        return self._entries

    def __next__(self) -> Any:
        return next(self._entries)

    def close(self) -> None:
        """Nothing is open."""


@contextlib.contextmanager
def a_cheap_world(folder: Path) -> Iterator[World]:
    """As `a_world`, with fewer pages, and under names that are the same each time; a config is parsed once."""
    pictures = {f"/{n}.jpeg": answer(body=picture("jpeg", n)) for n in range(FEWER * PER_PAGE)}
    with (
        Site(pictures) as site,
        Registry({"https://pages0.example/3"}) as registry,
        pytest.MonkeyPatch.context() as patch,
    ):
        really = dict(zip(PORTS, (site.port, registry.port), strict=True))
        site.port, registry.port = PORTS
        dial, tls = client._dial_only, functools.cache(client.tls_context)

        def dial_there(connection: Any, addresses: Any, port: int, *more: Any, **named: Any) -> None:
            dial(connection, addresses, really.get(port, port), *more, **named)

        patch.setattr(client, "_dial_only", dial_there)
        patch.setattr(client, "tls_context", tls)
        patch.setattr(yaml_file, "load", _once(yaml_file.load))
        patch.chdir(folder)
        threads = pa.cpu_count()
        pa.set_cpu_count(1)
        yield World(Path(), site, registry, FEWER)
        pa.set_cpu_count(threads)


def _once(load: Any) -> Any:
    """Parse each text once; what is returned may be changed."""
    import pickle

    parse = functools.cache(lambda text: pickle.dumps(load(text)))
    return lambda text: pickle.loads(parse(text))


@contextlib.contextmanager
def silence() -> Iterator[None]:
    with contextlib.redirect_stdout(io.StringIO()):
        yield


def coverage(done: Counter[str], disturbed: Counter[tuple[str, str]]) -> list[str]:
    """A line per kind of operation: how often it was done, and disturbed, by what."""
    lines = []
    for kind, times in sorted(done.items()):
        what = {how: n for (of, how), n in sorted(disturbed.items()) if of == kind}
        lines.append(
            f"{kind:<12} {times:>10,} done {sum(what.values()):>7,} disturbed: "
            + ", ".join(f"{how} {n:,}" for how, n in what.items())
        )
    return lines


def main(of: Callable[[World, Path], Simulator] = Simulator) -> int:
    """Tell stories, and which of them end badly."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", nargs=2, type=int, default=(0, 100), metavar=("FIRST", "END"))
    parser.add_argument("--seed", type=int, help="tell the story of one seed")
    parser.add_argument("--seconds", type=float, help="begin no story after so many seconds")
    parser.add_argument("--coverage", action="store_true", help="tell which operations were done and disturbed")
    arguments = parser.parse_args()
    seeds = range(*arguments.seeds) if arguments.seed is None else [arguments.seed]
    told, failed, done, disturbed = 0, 0, Counter[str](), Counter[tuple[str, str]]()
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None  # what a disk keeps is simulated: none is needed
    with tempfile.TemporaryDirectory(dir=memory) as folder, a_cheap_world(Path(folder)) as world:
        simulator, begun = of(world, Path(folder)), time.monotonic()
        for seed in seeds:
            if arguments.seconds is not None and time.monotonic() - begun > arguments.seconds:
                break
            story, wrong = simulator.tell(seed)
            told += 1
            done += story.done
            disturbed += story.disturbed
            if wrong or arguments.seed is not None:
                print(f"seed {seed}: {wrong or 'nothing wrong'}", *story.lines, sep="\n    ", flush=True)
            failed += bool(wrong)
    if arguments.coverage:
        print(*coverage(done, disturbed), sep="\n")
    print(f"{told} seeds, {failed} failed; {done.total():,} operations, {disturbed.total():,} disturbed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
