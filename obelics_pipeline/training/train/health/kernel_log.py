"""New lines of a log that grows: the kernel's, or a file that somebody copies it to."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

MOST_BYTES = 1 << 20
"""Of one look, so that a flood of messages cannot hold a step up; the rest comes with the next one."""


class KernelLog:
    """Follows a log from where it ends now.

    `/dev/kmsg` is read as the device that it is, without waiting. A file that became shorter, or another file, is read
    from its beginning. Where it cannot be read no line comes: watching is a courtesy, and many containers have no
    kernel log.
    """

    def __init__(self, path: Path = Path("/dev/kmsg")) -> None:
        self.path = path
        self.rest = b""
        self.device: int | None = None
        self.place = (0, 0)
        """Inode and position."""
        try:
            if path.is_char_device():
                self.device = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
                os.lseek(self.device, 0, os.SEEK_END)
            else:
                stat = path.stat()
                self.place = (stat.st_ino, stat.st_size)
        except OSError:
            pass  # it may yet come

    def lines(self) -> Iterator[str]:
        """Those that are complete since the last look."""
        chunk = self._device() if self.device is not None else self._file()
        *whole, self.rest = (self.rest + chunk).split(b"\n")
        return (line.decode("utf-8", "replace") for line in whole)

    def close(self) -> None:
        """Close the device."""
        if self.device is not None:
            os.close(self.device)
            self.device = None

    def _device(self) -> bytes:
        """Each read of the device is one record, `priority,number,time,flag;text`."""
        found = b""
        while self.device is not None and len(found) < MOST_BYTES:
            try:
                record = os.read(self.device, 8192)
            except BrokenPipeError:  # records were overwritten before they were read
                continue
            except OSError:  # BlockingIOError: no more for now
                break
            if not record:
                break
            found += record.split(b"\n")[0].partition(b";")[2] + b"\n"
        return found

    def _file(self) -> bytes:
        try:
            with self.path.open("rb") as file:
                stat = os.fstat(file.fileno())
                inode, position = self.place
                if stat.st_ino != inode or stat.st_size < position:
                    position, self.rest = 0, b""
                file.seek(position)
                found = file.read(MOST_BYTES)
        except OSError:
            return b""
        self.place = (stat.st_ino, position + len(found))
        return found
