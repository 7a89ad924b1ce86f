"""The local engine with workers that take turns: which of them does the next operation on the disk, the seed says.

Workers are threads of which one runs at a time. A turn ends at an operation on the disk, so a seed gives one order of
all operations, and units end in any order.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from obelics_pipeline.core.storage import Location, read_tables, scratch_of
from obelics_pipeline.engines.pool import Died, Raised
from tests.faults.failing_disk import Dead, Disk
from tests.faults.inline import Inline


class Baton:
    """Held by the one thread that runs. A thread that has no gate here is the matter of the thread that started it."""

    def __init__(self, random: Random) -> None:
        self._random, self._ready = random, list[threading.Semaphore]()
        self._here = threading.local()
        self._back_to: threading.Semaphore | None = None

    def take_first(self) -> None:
        """Be the first to hold it."""
        self._here.gate = threading.Semaphore(0)

    def start(self, life: Callable[[], None]) -> threading.Semaphore:
        """Begin a thread, which runs when its turn comes; returns its gate."""
        gate = threading.Semaphore(0)

        def run() -> None:
            self._here.gate = gate
            gate.acquire()
            try:
                life()
            finally:
                self._next().release()

        threading.Thread(target=run, daemon=True).start()
        self._ready.append(gate)
        return gate

    def pass_on(self) -> None:
        """Let the seed say who runs, this thread or another."""
        gate = self.gate()
        if gate is not None and self._ready:
            self._ready.append(gate)
            if (chosen := self._next()) is not gate:
                chosen.release()
                gate.acquire()

    def gate(self) -> threading.Semaphore | None:
        """Of this thread; None where it takes no turns."""
        return getattr(self._here, "gate", None)

    def wait(self) -> None:
        """Let others run until one of them wakes this thread."""
        gate = self.gate()
        assert gate is not None
        self._next().release()
        gate.acquire()

    def wake(self, gate: threading.Semaphore) -> None:
        """Let a thread that waits have turns again."""
        self._ready.append(gate)

    def run_to_its_end(self, gate: threading.Semaphore) -> None:
        """Let a thread that is ready run alone, and come back."""
        mine = self.gate()
        assert mine is not None
        self._ready.remove(gate)
        self._back_to = mine
        gate.release()
        mine.acquire()
        self._back_to = None

    def _next(self) -> threading.Semaphore:
        return self._back_to or self._ready.pop(self._random.randrange(len(self._ready)))


class Seeded(Inline):
    """Runs up to `at_once` units at a time on the threads of a baton; a worker that dies alone is a death of its unit.

    Rows are dealt out by Arrow: DuckDB takes a second of a story, and its files are its own.
    """

    def __init__(self, folder: Location, disk: Disk, baton: Baton, at_once: int) -> None:
        super().__init__(scratch_of(folder))
        self._disk, self._baton, self._at_once = disk, baton, at_once

    def _each(self, function: Callable[[Any], Any], waiting: deque[Any], /) -> Iterator[tuple[Any, Any]]:
        crew = _Crew(self._disk, self._baton)
        try:
            while waiting or crew.working:
                while waiting and crew.working < self._at_once:
                    crew.start(function, waiting.popleft())
                yield crew.next_done()
        finally:
            crew.end()

    def _deal(self, sources: Sequence[Location], column: str, output: Path) -> None:
        rows = pa.concat_tables(read_tables(sources))
        for value in sorted(pc.unique(rows[column]).to_pylist()):
            folder = output / f"{column}={quote(str(value), safe='')}"
            folder.mkdir(parents=True)
            pq.write_table(rows.filter(pc.equal(rows[column], value)).drop_columns([column]), folder / "rows.parquet")


class _Crew:
    """The workers of one map, and who waits for them."""

    def __init__(self, disk: Disk, baton: Baton) -> None:
        self._disk, self._baton = disk, baton
        self._foreman, self._asleep = baton.gate(), False
        self._at_work = dict[int, threading.Semaphore]()
        self._done = deque[tuple[Any, Any]]()
        self.working = 0  # or done, and not asked for

    def start(self, function: Callable[[Any], Any], item: Any) -> None:
        number = self.working = self.working + 1
        while number in self._at_work:
            number += 1

        def life() -> None:
            self._done.append((item, self._outcome(function, item)))
            del self._at_work[number]
            if self._asleep and self._foreman is not None:
                self._asleep = False
                self._baton.wake(self._foreman)

        self._at_work[number] = self._baton.start(life)

    def _outcome(self, function: Callable[[Any], Any], item: Any) -> Any:
        try:
            self._disk.refuse_the_dead()
            return function(item)
        except Dead as dead:
            return Died("was killed by signal 9") if self._disk.worker_died() else dead
        except Exception as error:
            return Raised(error)

    def next_done(self) -> tuple[Any, Any]:
        while not self._done:
            self._asleep = True
            self._baton.wait()
        self.working -= 1
        item, result = self._done.popleft()
        if isinstance(result, Dead):
            raise result
        return item, result

    def end(self) -> None:
        """Kill those who are still at work, as a pool does."""
        before, self._disk.dead = self._disk.dead, True
        for gate in list(self._at_work.values()):
            self._baton.run_to_its_end(gate)
        self._disk.dead = before
