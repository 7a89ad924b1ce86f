"""URLs that fetch units at work have answered: their journals lie in the run's folder where that is a local one."""

from __future__ import annotations

import os
from pathlib import Path

READ = 4 * 2**20  # bytes of a journal that are counted; of a longer one the rest is taken to be like these
LINE = b'{"url":'  # how a result begins


def urls_at_work(journals: Path, since: float) -> int:
    """About how many, in journals that were written to since a time in seconds since 1970."""
    try:
        found = [entry for entry in os.scandir(journals) if entry.name.endswith(".jsonl") and entry.is_file()]
    except OSError:
        return 0
    return sum(_urls(Path(entry.path), since) for entry in found)


def _urls(journal: Path, since: float) -> int:
    try:
        with journal.open("rb") as stream:
            state = os.fstat(stream.fileno())
            head = stream.read(READ)
    except OSError:  # its unit was committed meanwhile
        return 0
    if state.st_mtime < since or not head:
        return 0
    urls = head.count(b"\n" + LINE) + head.startswith(LINE)
    return round(urls * max(1.0, state.st_size / len(head)))
