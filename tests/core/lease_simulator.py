"""Leases on a store that is late, as a seed says: `python -m tests.core.lease_simulator --seeds 0 5000`.

One seed draws a story of some ten minutes: processes that want one folder, when they come, how fast their clocks run,
which of their requests and answers are late, lost or sent twice, who is stopped or cut off for minutes, who is killed.
The steps are those of `lease_protocol`; the store, the network and time are made here. Nothing waits: a story takes
milliseconds.

What must hold: never do two processes believe at one moment to hold the folder; no put by a former holder is accepted
over an object that a later one wrote; once all is calm, a free folder is taken in one go. A seed that fails is printed
with its story, and `--seed N` tells the same story again.
"""

from __future__ import annotations

import argparse
import hashlib
import heapq
import sys
from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

from obelics_pipeline.core import lease_protocol as protocol
from obelics_pipeline.core.errors import Stopped
from obelics_pipeline.core.lease import LOST_SECONDS, RENEW_SECONDS, STALE_SECONDS

STORY_SECONDS = 600.0
LATEST_SECONDS = 200.0  # a request or its answer may take so long
PAUSE_SECONDS = (20.0, 400.0)
DRIFT = 0.01  # a clock runs too fast or too slow by so much, at most
TIMES = protocol.Times(LOST_SECONDS, STALE_SECONDS, look=5.0)
OBJECTS = ("run", "index", "manifest")  # that stand for the whole run

Life = Generator[Any, Any, None]


@dataclass(frozen=True)
class Put:
    """An unconditional put: what the steps of today do not ask for. Answer: None."""

    name: str
    body: bytes


class Violation(Exception):
    """Something that must never happen."""


class Store:
    """Objects by name, each with its version. S3's version follows from the bytes, that of GCS counts the puts."""

    def __init__(self, by_content: bool) -> None:
        self._by_content, self._puts = by_content, count(1)
        self._objects: dict[str, tuple[str, bytes]] = {}
        self._written_by: dict[
            str, int
        ] = {}  # object of the run -> the highest number of a lease that it was put under

    def answer(self, request: Any, number: int) -> Any:
        """Do what a request asks for; `number` is that of the sender's lease, 0 of none."""
        match request:
            case protocol.Names():
                return sorted(self._objects)
            case protocol.Read(name):
                return protocol.Found(*self._objects.get(name, (None, b"")))
            case protocol.Version(name):
                return self._objects.get(name, (None, b""))[0]
            case protocol.Create(name, data):
                return name not in self._objects and self._put(name, data, number) is not None
            case protocol.Replace(name, body, version):
                standing = self._objects.get(name, (None, b""))[0]
                return self._put(name, body, number) if standing == version else None
            case Put(name, body):
                self._put(name, body, number)
            case protocol.Remove(names):
                for name in names:
                    self._objects.pop(name, None)

    def _put(self, name: str, body: bytes | Path, number: int) -> str:
        assert isinstance(body, bytes)
        if name in OBJECTS:
            if number < self._written_by.get(name, 0):
                raise Violation(f"a put of {name} under lease {number}, after one under {self._written_by[name]}")
            self._written_by[name] = number
        version = hashlib.md5(body).hexdigest() if self._by_content else f"{next(self._puts):016d}"
        self._objects[name] = version, body
        return version


class Process:
    """A run that wants the folder. Its clock is its own."""

    def __init__(self, name: str, world: World) -> None:
        self.name, self._world = name, world
        self._rate = 1 + world.random.uniform(-DRIFT, DRIFT)
        self._began = world.random.uniform(0, 1e6)
        self.here = world.random.random() < 0.3  # on the machine whose processes are known to be dead when they are
        self.lease: protocol.Lease | None = None
        self.lost = self.ended = self.dead = False
        self.wakes = 0.0  # it is stopped until then
        self.reaches = 0.0  # the store does not hear it until then
        self.value = {"owner": name, "host": name, "processes": "", "process": 0, "renewals": 0, "over": False}

    def now(self) -> float:
        """What its clock shows."""
        return self._began + self._world.time * self._rate

    def tell(self, line: str) -> None:
        self._world.tell(f"{self.name} {line}")


class Fenced:
    """The steps of a run as they are."""

    times = TIMES

    def believes(self, process: Process) -> bool:
        """Whether a process that is at work would write in the folder now."""
        return process.lease is not None and not process.lost and process.now() < process.lease.until

    def take(self, process: Process, is_dead: Callable[[Any], bool]) -> Life:
        process.lease = yield from protocol.take(process.value, process.now, self.times, is_dead)

    def keep(self, process: Process) -> Life:
        """What the renewing thread does."""
        assert process.lease is not None
        while True:
            yield protocol.Wait(RENEW_SECONDS)
            if process.ended:
                return
            try:
                yield from self.renew(process)
            except protocol.Followed:
                process.lost = True
                return
            except OSError:
                continue

    def renew(self, process: Process) -> Life:
        assert process.lease is not None
        yield from protocol.renew(process.lease, process.now, self.times)

    def write(self, process: Process, name: str, body: bytes) -> Life:
        def check() -> None:
            if not self.believes(process):
                raise Stopped("lost")

        yield from protocol.overwrite(name, body, check)

    def give_back(self, process: Process) -> Life:
        assert process.lease is not None
        yield from protocol.give_back(process.lease)


class World:
    """Time, the network, and what happens in it under one seed."""

    def __init__(self, seed: int, steps: Fenced) -> None:
        self.random, self.time, self.story = Random(seed), 0.0, list[str]()
        self._steps, self._calm = steps, False
        self._store = Store(by_content=self.random.random() < 0.5)
        self._late = self.random.choice((0.0, 0.02, 0.1, 0.3))  # share of messages that are late; so for the others:
        self._lost, self._twice = self.random.choice((0.0, 0.02, 0.1)), self.random.choice((0.0, 0.05, 0.3))
        self._stopped, self._killed = self.random.choice((0.0, 0.01, 0.03)), self.random.choice((0.0, 0.005))
        self._cut_off = self.random.choice((0.0, 0.005, 0.02))
        self._order, self._events = count(), list[tuple[float, int, Callable[[], None]]]()
        self._processes = list[Process]()

    def run(self) -> None:
        """Tell the story. Raises Violation."""
        for i in range(self.random.randint(2, 4)):
            self._at(self.random.uniform(0, 150), partial(self._come, f"run {i}"))
        self._pass_until(STORY_SECONDS)
        for process in self._processes:
            process.dead = True
        self._calm = True
        self._pass_until(float("inf"))
        self.tell("calm")
        last = Process("the last run", self)
        self._processes.append(last)
        self._go(last, self._steps.take(last, lambda _: False))
        self._pass_until(self.time + self._steps.times.stale + 10)
        if last.lease is None:
            raise Violation("a free folder was not taken")

    def tell(self, line: str) -> None:
        self.story.append(f"{self.time:8.2f} {line}")

    def _pass_until(self, end: float) -> None:
        while self._events and self._events[0][0] <= end:
            self.time, _, happens = heapq.heappop(self._events)
            happens()
        self.time = max(self.time, end) if end != float("inf") else self.time

    def _at(self, when: float, happens: Callable[[], None]) -> None:
        heapq.heappush(self._events, (when, next(self._order), happens))

    def _come(self, name: str) -> None:
        process = Process(name, self)
        self._processes.append(process)
        self._go(process, self._life(process))

    def _life(self, process: Process) -> Life:
        """A run: take the folder, write, give it back. Who is refused gives the command again."""
        while process.lease is None:
            try:
                yield from self._steps.take(process, self._is_dead)
            except (protocol.Refused, OSError) as error:
                process.tell(f"is refused: {error}")
                process.value = process.value | {"owner": f"{process.value['owner']}'"}
                yield protocol.Wait(self.random.uniform(1, 60))
        process.tell(f"holds the folder by lease {process.lease.number}")
        self._go(process, self._steps.keep(process))
        try:
            for i in range(self.random.randint(1, 12)):
                yield protocol.Wait(self.random.uniform(0, 25))
                if not self._steps.believes(process):
                    break
                yield from self._steps.write(process, self.random.choice(OBJECTS), f"{process.name} {i}".encode())
        except (Stopped, OSError) as error:
            process.tell(f"stops: {error}")
        process.ended = True
        if not process.lost:
            process.tell("gives the folder back")
            yield from self._steps.give_back(process)

    def _is_dead(self, value: Any) -> bool:
        return any(p.here and p.dead for p in self._processes if p.name == value.get("host"))

    def _go(self, process: Process, life: Life, answer: Any = None) -> None:
        """Let a thread of a process go on until its next request."""
        if process.dead:
            return
        if process.wakes > self.time:
            self._at(process.wakes, lambda: self._go(process, life, answer))
            return
        try:
            request = life.throw(answer) if isinstance(answer, OSError) else life.send(answer)
        except (StopIteration, protocol.Followed, OSError):
            request = None
        self._refuse_two_holders()
        if isinstance(request, protocol.Wait):
            self._at(self.time + request.seconds, lambda: self._go(process, life))
        elif request is not None:
            self._send(process, life, request)

    def _refuse_two_holders(self) -> None:
        at_work = [p for p in self._processes if not p.dead and p.wakes <= self.time]
        if len(believing := [p for p in at_work if self._steps.believes(p)]) > 1:
            raise Violation(f"two holders: {believing[0].name} and {believing[1].name}")

    def _send(self, process: Process, life: Life, request: Any) -> None:
        """Bring a request to the store, now or later, never or twice; bring back one answer, or an error."""
        if self._chance(self._killed):
            process.tell("is killed")
            process.dead = True
        if self._chance(self._stopped):
            process.wakes = self.time + self.random.uniform(*PAUSE_SECONDS)
            process.tell(f"is stopped until {process.wakes:.2f}, before it sends {request}")
            self._at(process.wakes, self._refuse_two_holders)
        if self._chance(self._cut_off):
            process.reaches = self.time + self.random.uniform(*PAUSE_SECONDS)
            process.tell(f"cannot reach the store until {process.reaches:.2f}")
        left = max(self.time, process.wakes)
        number = process.lease.number if process.lease is not None else 0
        arrives = [left + self._delay() for _ in range(2 if self._chance(self._twice) else 1)]
        unheard = process.reaches > left
        told = self.random.randrange(len(arrives)) if not unheard and not self._chance(self._lost) else -1
        if told < 0:
            arrives = arrives if not unheard and self._chance(0.5) else []
            wait = self.random.uniform(0, 5) if self._chance(0.5) else self.random.uniform(20, LATEST_SECONDS)
            self._at(left + wait, lambda: self._go(process, life, OSError("no answer")))
        for i, when in enumerate(arrives):
            self._at(when, partial(self._arrive, process, life, request, number, i == told))

    def _arrive(self, process: Process, life: Life, request: Any, number: int, answers: bool) -> None:
        answer = self._store.answer(request, number)
        if not isinstance(request, protocol.Read | protocol.Version | protocol.Names):
            process.tell(f"{request} -> {answer}")
        if answers:
            self._at(self.time + self._delay(), lambda: self._go(process, life, answer))

    def _chance(self, share: float) -> bool:
        return not self._calm and self.random.random() < share

    def _delay(self) -> float:
        if self._chance(self._late):
            return self.random.uniform(0, LATEST_SECONDS) if self._chance(0.5) else self.random.uniform(0, 15)
        return self.random.uniform(0.01, 0.1)


def told(seed: int, steps: Fenced | None = None) -> tuple[list[str], str]:
    """The story of a seed and what is wrong in it, an empty text if nothing is."""
    world = World(seed, steps or Fenced())
    try:
        world.run()
    except Violation as violation:
        world.tell(str(violation))
        return world.story, str(violation)
    return world.story, ""


def failing(seeds: range, steps: Fenced | None = None) -> dict[int, str]:
    """The seeds that fail, with what is wrong."""
    return {seed: wrong for seed in seeds if (wrong := told(seed, steps)[1])}


def main() -> int:
    """Tell stories until one is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    chosen = parser.add_mutually_exclusive_group(required=True)
    chosen.add_argument("--seeds", nargs=2, type=int, metavar=("A", "B"), help="all seeds from A to before B")
    chosen.add_argument("--seed", type=int, help="one seed; its story is printed")
    given = parser.parse_args()
    for seed in range(*given.seeds) if given.seeds else [given.seed]:
        story, wrong = told(seed)
        if wrong or given.seeds is None:
            print(*story, sep="\n")
            print(f"seed {seed}: {wrong or 'all is well'}")
            if wrong:
                return 1
    if given.seeds:
        print(f"{given.seeds[1] - given.seeds[0]} seeds: all is well")
    return 0


if __name__ == "__main__":
    sys.exit(main())
