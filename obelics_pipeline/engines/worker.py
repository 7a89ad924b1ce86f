"""How a worker process begins: it ends with its driver, holds the run's folder, and gives memory back."""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
import threading
import time
from pathlib import Path
from typing import IO


def start_worker(driver: int, folder: str) -> None:
    """Prepare a worker: Ctrl-C is the driver's business, and a worker does not outlive its driver."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    global _lock
    _lock = open(Path(folder) / ".workers", "a")  # noqa: SIM115 - held as long as the process lives
    fcntl.flock(_lock, fcntl.LOCK_SH)
    threading.Thread(target=_watch, args=(driver,), daemon=True).start()
    os.nice(1)  # the driver must stay able to answer
    return_freed_memory_at_once()


_lock: IO[str] | None = None


def _watch(driver: int) -> None:
    while True:
        try:
            os.kill(driver, 0)
        except ProcessLookupError:
            os._exit(1)
        time.sleep(0.2)


def return_freed_memory_at_once() -> None:
    """One malloc arena and an early trim: big pages come and go, and must not leave the process big (glibc only)."""
    m_trim_threshold, m_mmap_threshold, m_arena_max = -1, -3, -8  # from malloc.h
    try:
        libc = ctypes.CDLL("libc.so.6")
        libc.mallopt(m_arena_max, 2)
        libc.mallopt(m_mmap_threshold, 4 * 2**20)
        libc.mallopt(m_trim_threshold, 16 * 2**20)
    except (OSError, AttributeError):
        return
