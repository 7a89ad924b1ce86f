"""The rule files of a unit's hosts, such as robots.txt: all of them on the disk, and a few parsed in memory.

A host may have 500 KiB of rules, which take 20 times as much once they are parsed, and a unit has thousands of hosts.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Generic, TypeVar

PARSED_BYTES = 2**19  # of files that are held parsed; the last one that was asked for is held, whatever its size

Rules = TypeVar("Rules")
Parse = Callable[[bytes], Rules]


class RuleFile(Generic[Rules]):
    """One of the files. `rules` parses it, if it is not held parsed."""

    def __init__(self, files: RuleFiles, offset: int, length: int, parse: Parse[Rules]) -> None:
        self._files, self._parse = files, parse
        self.offset, self.length = offset, length

    def rules(self) -> Rules:
        """What `parse` makes of the file. Raises what `parse` does."""
        rules: Rules = self._files.parsed(self, self._parse)
        return rules


class RuleFiles:
    """All of them, one after the other in a file that is new and open to read and write. Thread-safe."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._end = file, 0
        self._parsed = OrderedDict[RuleFile[Any], Any]()  # the one that was asked for last is the last
        self._lock = threading.RLock()

    def add(self, content: bytes, parse: Parse[Rules]) -> RuleFile[Rules]:
        """Keep a file. Raises what `parse` does of it, OSError where the disk is full."""
        with self._lock:
            self._file.seek(self._end)
            self._file.write(content)
            added = RuleFile(self, self._end, len(content), parse)
            self._end += len(content)
            self.parsed(added, lambda _content: parse(content))
            return added

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep other threads waiting while one reads the rules of a file again and again: it is parsed once then."""
        with self._lock:
            yield

    def parsed(self, file: RuleFile[Rules], parse: Parse[Rules]) -> Rules:
        """See `RuleFile.rules`."""
        with self._lock:
            if file not in self._parsed:
                self._make_room(file.length)
                self._file.seek(file.offset)
                self._parsed[file] = parse(self._file.read(file.length))
            self._parsed.move_to_end(file)
            rules: Rules = self._parsed[file]
            return rules

    def _make_room(self, length: int) -> None:
        held = sum(file.length for file in self._parsed)
        while self._parsed and held + length > PARSED_BYTES:
            held -= self._parsed.popitem(last=False)[0].length
