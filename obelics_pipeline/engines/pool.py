"""Worker processes of this machine that may be killed at any moment, and the driver notices and goes on.

Each worker has a pipe of its own, and the driver waits for pipes and deaths together. The pools of the standard
library and of pebble share one queue, guarded by a lock: a worker that is killed while it holds the lock takes the
pool with it (docs/decisions/0002-own-worker-pool.md).
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import connection, forkserver, get_context, resource_tracker
from multiprocessing.context import ForkServerProcess
from typing import Any, Generic, TypeVar

from obelics_pipeline.core.errors import UserError

RECYCLE_BYTES = 500 * 2**20  # a worker that has grown so big is replaced after its task, before it nears 700 MB
NEVER = float("inf")  # bytes: a worker that holds a model is as big as the model, and to replace it is to load anew
STARTS = 5  # tries to start a worker: the fork server may be killed as well

Item = TypeVar("Item")
Value = TypeVar("Value")
Environment = Callable[[int], dict[str, str]]  # from the number of a worker; two that are alive have different ones


@dataclass(frozen=True)
class Raised:
    """The task raised this."""

    error: Exception


@dataclass(frozen=True)
class Died:
    """The task's worker was killed, or took too long and was killed by us."""

    how: str


class _Worker:
    """A process and the pipe to it. `task` is what it is at, until `deadline`."""

    def __init__(
        self, initializer: Callable[..., None], arguments: tuple[Any, ...], number: int, environment: dict[str, str]
    ) -> None:
        context = get_context("forkserver")
        self.pipe, theirs = context.Pipe()
        self.number = number
        self.process: ForkServerProcess = context.Process(
            target=_serve, args=(theirs, os.environ | environment, initializer, arguments)
        )
        self.process.start()
        theirs.close()
        self.deadline = float("inf")

    def give(self, function: Callable[[Any], Any], item: Any, seconds: float) -> None:
        self.deadline = time.monotonic() + seconds
        with contextlib.suppress(OSError):  # it is dead: `outcome` will say so
            self.pipe.send((function, item))

    def outcome(self) -> tuple[Any, int] | Died | None:
        """What came back, with the worker's size in bytes; None while it is at work."""
        try:
            if self.pipe.poll():
                received: tuple[Any, int] = self.pipe.recv()
                return received
        except (EOFError, OSError):
            return Died("died")
        if not self.process.is_alive():
            return Died("died")
        if time.monotonic() >= self.deadline:
            return Died("took too long")
        return None

    def end(self, at_once: bool) -> None:
        self.pipe.close()  # a worker that waits for its next task ends by this
        if at_once:
            self.process.kill()
        self.process.join()


class Pool(Generic[Item, Value]):
    """Keeps up to `workers` processes, starts them when there is work, and replaces the dead. A context manager.

    `initializer` is called in each worker with `arguments`; `preload` names modules that are imported before workers
    are forked, once. Workers have the environment (proxies, credentials) of their driver as it is when they start: the
    fork server that they come from is the whole process's, and may be older. To it `environment` adds, by the number
    of a worker: 0 to below `workers`. One that is larger than `recycle_bytes` after a task is replaced.
    """

    def __init__(
        self,
        workers: int,
        initializer: Callable[..., None],
        arguments: tuple[Any, ...],
        preload: Sequence[str],
        recycle_bytes: float = RECYCLE_BYTES,
        environment: Environment | None = None,
    ) -> None:
        self._size, self._initializer, self._arguments = workers, initializer, arguments
        self._recycle_bytes, self._environment = recycle_bytes, environment
        self._idle: list[_Worker] = []
        self._busy: dict[_Worker, Any] = {}
        forkserver.set_forkserver_preload(list(preload))

    def __enter__(self) -> Pool[Item, Value]:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        for worker in (*self._idle, *self._busy):
            worker.end(at_once=kind is not None or worker in self._busy)
        self._idle, self._busy = [], {}

    def each(
        self, function: Callable[[Item], Value], waiting: deque[Item], seconds: float
    ) -> Iterator[tuple[Item, Value | Raised | Died]]:
        """Yield the outcome of each item as it finishes. The caller may put items back into `waiting`."""
        while waiting or self._busy:
            while waiting and len(self._busy) < self._size:
                worker = self._idle.pop() if self._idle else self._start()
                self._busy[worker] = item = waiting.popleft()
                worker.give(function, item, seconds)
            self._wait()
            for worker in list(self._busy):
                outcome = worker.outcome()
                if outcome is None:
                    continue
                item = self._busy.pop(worker)
                if isinstance(outcome, Died):
                    worker.end(at_once=True)
                    yield item, outcome
                else:
                    self._release(worker, outcome[1])
                    yield item, outcome[0]

    def _wait(self) -> None:
        """Until a worker has answered, died, or reached its deadline."""
        next_deadline = min(worker.deadline for worker in self._busy)
        signs: list[Any] = [sign for w in self._busy for sign in (w.pipe, w.process.sentinel)]
        connection.wait(signs, timeout=max(0.0, min(next_deadline - time.monotonic(), 3600.0)))

    def _release(self, worker: _Worker, size: int) -> None:
        if size > self._recycle_bytes:
            worker.end(at_once=False)
        else:
            self._idle.append(worker)

    def _start(self) -> _Worker:
        taken = {worker.number for worker in (*self._idle, *self._busy)}
        number = next(n for n in range(self._size) if n not in taken)
        more = self._environment(number) if self._environment is not None else {}
        for attempt in range(STARTS):
            try:
                with imports_as_here():
                    interrupts_waiting(forkserver.ensure_running)
                return _Worker(self._initializer, self._arguments, number, more)
            except (EOFError, OSError) as error:
                if "AF_UNIX path too long" in str(error):  # it has no number
                    folder = tempfile.gettempdir()
                    raise UserError(f"TMPDIR {folder}: is too long for a socket; set it to a shorter path") from None
                if attempt == STARTS - 1:
                    raise
                time.sleep(0.1)
        raise AssertionError


@contextlib.contextmanager
def imports_as_here() -> Iterator[None]:
    """Processes that start in this block find modules where this process finds them.

    A fork server is started by `python -c`, and would import what it preloads from the working directory first: there
    a file `datasets.py` of a lab's own takes the place of the package.
    """
    names = import_environment()
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(names)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def import_environment() -> dict[str, str]:
    """The environment in which an interpreter finds modules where this process finds them."""
    return {"PYTHONPATH": os.pathsep.join(entry or os.getcwd() for entry in sys.path), "PYTHONSAFEPATH": "1"}


def interrupts_waiting(action: Callable[[], None]) -> None:
    """What is started here is deaf to Ctrl-C from its first moment: it is the driver that decides what to do then.

    The signal is blocked, which children inherit, and not ignored: pressed meanwhile, Ctrl-C reaches the driver
    afterwards, or at once where another thread takes it.
    """
    resource_tracker.ensure_running()  # while it starts it lets such signals through, whoever holds them back
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,))
    try:
        action()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(
    pipe: connection.Connection,
    environment: dict[str, str],
    initializer: Callable[..., None],
    arguments: tuple[Any, ...],
) -> None:  # pragma: no cover - runs in the workers
    """A worker's life: a task, its outcome, the next one, until the driver closes the pipe."""
    os.environ.clear()
    os.environ.update(environment)
    initializer(*arguments)
    while True:
        try:
            function, item = pipe.recv()
        except (EOFError, OSError):
            return
        except Exception as error:  # it cannot be unpickled here
            pipe.send((Raised(error), 0))
            continue
        try:
            outcome = function(item)
        except Exception as error:
            outcome = Raised(error)
        try:
            pipe.send((outcome, _resident_bytes()))
        except OSError:
            return
        except Exception as error:  # what cannot be pickled: say what it was
            pipe.send((Raised(RuntimeError(f"{type(error).__name__}: {error}: {outcome!r}"[:500])), 0))


def _resident_bytes() -> int:
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096
    except OSError:  # no Linux: never recycled
        return 0
