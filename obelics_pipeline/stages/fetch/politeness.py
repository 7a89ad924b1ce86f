"""Tasks by host: at most so many at a time to one host, and a minimum time between the starts of two.

A host that must wait, or is slow, blocks only its own threads.
"""

from __future__ import annotations

import heapq
import math
import queue
import threading
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Task:
    """One request to one host. `run` returns the tasks that follow from it, for this host or another.

    Urgent tasks (a redirect, a robots.txt) go before those that wait.
    """

    host: str
    run: Callable[[], list[Task]] = field(compare=False)
    urgent: bool = False


class Turns:
    """Gives hosts their turns. `delay` is asked at each start for the seconds until the host's next start.

    `left` says how many seconds are left in which tasks may start.
    """

    def __init__(
        self, threads: int, per_host: int, delay: Callable[[str], float], left: Callable[[], float] = lambda: math.inf
    ) -> None:
        self._threads, self._per_host, self._delay, self._left = threads, per_host, delay, left
        self._waiting: defaultdict[str, deque[Task]] = defaultdict(deque)
        self._active: Counter[str] = Counter()
        self._not_before: dict[str, float] = {}
        self._ready: deque[str] = deque()  # hosts whose turn it may be
        self._later: list[tuple[float, str]] = []  # heap of hosts that must wait
        self._listed: set[str] = set()  # hosts in one of the two
        self._done: queue.SimpleQueue[tuple[str, Future[list[Task]]]] = queue.SimpleQueue()
        self._lock = threading.Lock()

    def pause(self, host: str, seconds: float) -> None:
        """No start for this host within the next seconds. Called from within a task."""
        with self._lock:
            self._not_before[host] = max(self._not_before.get(host, 0.0), time.monotonic() + seconds)

    def run(self, tasks: Iterable[Task]) -> None:
        """Run all tasks, and those that follow from them. The first exception of a task stops all, and is raised.

        Where no time is left, tasks under way come to their end, and those that wait are not run.
        """
        for task in tasks:
            self._admit(task)
        running = 0
        with ThreadPoolExecutor(self._threads, thread_name_prefix="fetch") as pool:
            while running or (self._listed and self._left() > 0):
                self._wake()
                while self._ready and running < self._threads and self._left() > 0:
                    running += self._start(pool, self._ready.popleft())
                finished = self._next_done(running)
                if finished is not None:
                    running -= 1
                    self._finish(*finished)

    def _admit(self, task: Task) -> None:
        if task.urgent:
            self._waiting[task.host].appendleft(task)
        else:
            self._waiting[task.host].append(task)
        self._offer(task.host)

    def _offer(self, host: str) -> None:
        """List a host that has something waiting and a place free, once."""
        if host not in self._listed and self._waiting.get(host) and self._active[host] < self._per_host:
            self._listed.add(host)
            self._ready.append(host)

    def _wake(self) -> None:
        now = time.monotonic()
        while self._later and self._later[0][0] <= now:
            self._ready.append(heapq.heappop(self._later)[1])

    def _start(self, pool: ThreadPoolExecutor, host: str) -> int:
        """Start the host's next task, unless it must wait; the number of tasks started."""
        now = time.monotonic()
        with self._lock:
            begin = self._not_before.get(host, 0.0)
            if begin <= now:
                self._not_before[host] = now + self._delay(host)
        if begin > now:
            heapq.heappush(self._later, (begin, host))
            return 0
        self._listed.discard(host)
        task = self._waiting[host].popleft()
        self._active[host] += 1
        pool.submit(task.run).add_done_callback(lambda future: self._done.put((host, future)))
        self._offer(host)
        return 1

    def _next_done(self, running: int) -> tuple[str, Future[list[Task]]] | None:
        """The next finished task; None when a waiting host's time comes first."""
        timeout = max(0.0, self._later[0][0] - time.monotonic()) if self._later else None
        if not running and timeout is not None:
            time.sleep(min(timeout, self._left()))
            return None
        if not running:
            return None
        try:
            return self._done.get(timeout=timeout)
        except queue.Empty:
            return None

    def _finish(self, host: str, future: Future[list[Task]]) -> None:
        self._active[host] -= 1
        for task in future.result():
            self._admit(task)
        self._offer(host)
