"""The engine of one machine: a pool of processes that survives a killed worker, and DuckDB for the shuffle."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import shutil
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, Any, TypeVar
from urllib.parse import unquote

from obelics_pipeline.commit import Manifest
from obelics_pipeline.engines.engine import Failure, Work
from obelics_pipeline.engines.pool import Died, Pool, Raised
from obelics_pipeline.errors import Stopped, UserError
from obelics_pipeline.unit import Unit

Item = TypeVar("Item")
Value = TypeVar("Value")

ATTEMPTS = 3  # tries at a unit that raises: storage and network have hiccups, a bug does not go away
CRASHES = 12  # tries at a unit that takes its worker down: enough to single out a few bad pages (see extract.suspects)
DISK_FULL = (errno.ENOSPC, errno.EDQUOT)


class LocalEngine:
    """Runs units on `workers` processes of this machine. Use as a context manager: the processes end with it.

    `folder` is the run's, for its locks. `preload` names modules that are imported once, before workers are forked.
    """

    def __init__(
        self,
        workers: int,
        folder: Path,
        unit_timeout_seconds: float,
        preload: Sequence[str] = (),
        memory_limit: str = "512MB",
    ) -> None:
        self.workers, self._folder = workers, folder
        self._timeout, self._memory_limit = unit_timeout_seconds, memory_limit
        self._pool: Pool[Any, Any] = Pool(workers, _start_worker, (os.getpid(), str(folder)), preload)

    def __enter__(self) -> LocalEngine:
        self._pool.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        self._pool.__exit__(kind, error, trace)

    def map_units(self, work: Work, units: Sequence[Unit]) -> Iterator[tuple[Unit, Manifest | Failure]]:
        """Every unit once, as they finish. A unit whose worker dies is tried again; the others never notice.

        Raises `Stopped` when the disk is full, `UserError` when a unit finds that the setting is wrong.
        """
        waiting = deque(units)
        attempts: dict[str, int] = {}
        for unit, result in self._pool.each(work, waiting, self._timeout):
            outcome = _outcome(result, unit, attempts)
            if isinstance(outcome, Unit):
                waiting.appendleft(outcome)
            else:
                yield unit, outcome

    def map(self, function: Callable[[Item], Value], items: Iterable[Item]) -> Iterator[Value]:
        """What a picklable function gives for each item, in their order. Raises what it raises."""
        numbered = deque(enumerate(items))
        results: dict[int, Value] = {}
        tries: dict[int, int] = {}
        for (number, item), result in self._pool.each(partial(_second, function), numbered, self._timeout):
            if isinstance(result, Raised):
                raise result.error
            if isinstance(result, Died):
                tries[number] = tries.get(number, 0) + 1
                if tries[number] >= CRASHES:
                    raise RuntimeError(f"a worker {result.how} {CRASHES} times at {item!r}"[:500])
                numbered.appendleft((number, item))
            else:
                results[number] = result
        return iter([results[number] for number in sorted(results)])

    def regroup(self, sources: Sequence[Path], column: str, output: Path) -> dict[str, list[Path]]:
        """Deal rows out by a column: one folder per value, written by DuckDB, which spills beyond its memory."""
        import duckdb  # 20 MB that a run without images never needs

        shutil.rmtree(output, ignore_errors=True)
        output.mkdir(parents=True)
        with duckdb.connect() as database:
            database.execute(f"SET memory_limit='{self._memory_limit}'")
            database.execute("SET threads=1")  # the order of rows, and so every byte, is that of the sources
            database.execute("SET temp_directory=$folder", {"folder": str(output / "spill")})
            if sources:
                rows = database.read_parquet([str(path) for path in sources])
                try:
                    rows.write_parquet(str(output), partition_by=[column], compression="zstd")
                except duckdb.Error as error:
                    raise _as_os_error(error, output) from None
        shutil.rmtree(output / "spill", ignore_errors=True)
        groups: dict[str, list[Path]] = {}
        for path in sorted(output.glob(f"{column}=*/*.parquet")):
            groups.setdefault(unquote(path.parent.name.partition("=")[2]), []).append(path)
        return groups


def _as_os_error(error: Exception, output: Path) -> Exception:
    """DuckDB tells of a full disk in words only."""
    if "No space left" in str(error) or "failed to offload" in str(error):
        return OSError(errno.ENOSPC, "No space left on device", str(output))
    return error


def _second(function: Callable[[Item], Value], numbered: tuple[int, Item]) -> Value:
    return function(numbered[1])


def _outcome(result: Manifest | Raised | Died, unit: Unit, attempts: dict[str, int]) -> Manifest | Failure | Unit:
    """What became of a unit; the unit itself where it should be tried again."""
    if isinstance(result, Manifest):
        return result
    if isinstance(result, Died):
        crashed = replace(unit, crashes=unit.crashes + 1)
        return crashed if crashed.crashes < CRASHES else Failure(f"its worker {result.how} {crashed.crashes} times")
    error = result.error
    if isinstance(error, UserError):
        raise error
    if isinstance(error, OSError) and error.errno in DISK_FULL:
        raise Stopped(disk_full(error))
    attempts[unit.name] = attempts.get(unit.name, 0) + 1
    return unit if attempts[unit.name] < ATTEMPTS else Failure(f"{type(error).__name__}: {error}")


def disk_full(error: OSError) -> str:
    """The line a person reads when the disk is full."""
    where = f" while writing {error.filename}" if error.filename else ""
    return f"disk full{where}: nothing is damaged; free some space and run the same command again"


def _start_worker(driver: int, folder: str) -> None:
    """Prepare a worker: Ctrl-C is the driver's business, and a worker does not outlive its driver."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    global _lock
    _lock = open(Path(folder) / ".workers", "a")  # noqa: SIM115 - held as long as the process lives
    fcntl.flock(_lock, fcntl.LOCK_SH)
    threading.Thread(target=_watch, args=(driver,), daemon=True).start()
    os.nice(1)  # the driver must stay able to answer
    _return_freed_memory_at_once()


_lock: IO[str] | None = None


def _watch(driver: int) -> None:
    while True:
        try:
            os.kill(driver, 0)
        except ProcessLookupError:
            os._exit(1)
        time.sleep(0.2)


def _return_freed_memory_at_once() -> None:
    """One malloc arena and an early trim: big pages come and go, and must not leave the process big (glibc only)."""
    m_trim_threshold, m_mmap_threshold, m_arena_max = -1, -3, -8  # from malloc.h
    try:
        libc = ctypes.CDLL("libc.so.6")
        libc.mallopt(m_arena_max, 2)
        libc.mallopt(m_mmap_threshold, 4 * 2**20)
        libc.mallopt(m_trim_threshold, 16 * 2**20)
    except (OSError, AttributeError):
        return
