"""Files behind a URL, read in large pieces, with retries."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

from fsspec.core import url_to_fs

from obelics_pipeline.core.access import KNOWN, lacks_credentials, missing_package
from obelics_pipeline.core.config.reading import ReadingConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.redacted import redacted

PIECE = 8 * 2**20  # bytes of one request within the range that is wanted
TAIL_PIECE = 512 * 1024  # bytes of one request beyond it, where only the rest of one record is wanted
HEAD_PIECE = 4096  # bytes of one request before it, at least
HELD_PIECES = 3  # pieces in memory: the one being read, and those just before it
MAX_WAIT = 60.0  # seconds between two tries, at most


class NoRangesError(OSError):
    """A server sends whole files only."""


PERMANENT = (FileNotFoundError, PermissionError, IsADirectoryError, NoRangesError)
GONE = (404, 410, 416)  # HTTP statuses that no further try changes; 403 is how Common Crawl says slow down
T = TypeVar("T")


def is_remote(path: str) -> bool:
    """Whether a path is a URL of a file system other than the local one."""
    scheme, mark, _ = path.partition("://")
    return bool(mark) and scheme not in ("file", "local")


def file_system(url: str, config: ReadingConfig) -> tuple[Any, str]:
    """The fsspec file system of a URL and the URL's path in it. Raises UserError where its package is missing."""
    protocol = url.partition("://")[0]
    try:
        return url_to_fs(url, **_options(protocol, config))  # type: ignore[no-any-return]
    except ImportError:
        raise UserError(missing_package(url)) from None
    except ValueError as error:
        raise UserError(f"{url}: {error}; valid are paths and URLs of {', '.join(KNOWN)}") from None


def _options(protocol: str, config: ReadingConfig) -> dict[str, Any]:
    options: dict[str, Any] = {"use_listings_cache": False}
    if protocol in ("http", "https"):
        import aiohttp

        timeout = aiohttp.ClientTimeout(total=config.request_seconds)
        options["client_kwargs"] = {"trust_env": True, "timeout": timeout, "headers": {"Accept-Encoding": "identity"}}
    options.update(config.storage_options.get(protocol, {}))
    return options


def with_retries(what: str, action: Callable[[], T], config: ReadingConfig) -> T:
    """The result of `action`, tried again after transient errors. Raises OSError when it cannot be had.

    What is raised says `what` without secrets: workers of other engines write errors to logs of their own.
    """
    for attempt in range(config.request_retries + 1):
        try:
            return action()
        except PERMANENT as error:
            raise type(error)(redacted(f"{what}: {error}")) from None
        except Exception as error:  # aiohttp, botocore and gcsfs each have their own; all of them may pass
            if getattr(error, "status", None) in GONE:
                raise FileNotFoundError(redacted(f"{what}: {error}")) from None
            if lacks_credentials(error):
                raise PermissionError(redacted(f"{what}: {error}")) from None
            if attempt == config.request_retries:
                told = f"{what}: {type(error).__name__}: {error} (tried {attempt + 1} times)"
                raise OSError(redacted(told)) from None
            time.sleep(min(config.retry_wait_seconds * 2**attempt, MAX_WAIT))
    raise AssertionError("unreachable")


def fetch_range(files: Any, path: str, start: int, end: int, config: ReadingConfig) -> bytes:
    """Bytes [start, end) of a remote file. Raises OSError, also where a server does not answer ranges."""

    def get() -> bytes:
        data: bytes = files.cat_file(path, start=start, end=end)
        if len(data) > end - start:
            raise NoRangesError("the server does not answer range requests")
        return data

    return with_retries(f"{path} bytes {start}-{end}", get, config)


class RemoteSource:
    """A file behind a URL, of which mostly [start, end) is wanted; the pieces read last are held."""

    def __init__(self, url: str, start: int, end: int, config: ReadingConfig, size: int | None = None) -> None:
        self.failure: OSError | None = None
        self._files, self._path = file_system(url, config)
        self._config = config
        if size is None:
            size = with_retries(url, lambda: self._files.info(self._path)["size"], config)
        self.size = int(size)
        self._start, self._end = start, min(end, self.size)
        self._pieces: dict[int, bytes] = {}

    def at(self, position: int, count: int) -> bytes:
        """Up to `count` bytes from `position`."""
        stop = min(position + count, self.size)
        parts = []
        while position < stop:
            first, last = self._bounds(position, stop - position)
            piece = self._piece(first, last)
            parts.append(piece[position - first : stop - first])
            position = last
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _bounds(self, position: int, count: int) -> tuple[int, int]:
        """The piece that holds a position: large within the range, small outside it."""
        if position < self._start:  # a look at the file's beginning: compression, dictionary
            return position, min(position + max(count, HEAD_PIECE), self._start)
        if position < self._end:
            base, step, limit = self._start, PIECE, self._end
        else:
            base, step, limit = self._end, TAIL_PIECE, self.size
        first = base + (position - base) // step * step
        return first, min(first + step, limit)

    def _piece(self, first: int, last: int) -> bytes:
        data = self._pieces.pop(first, b"")
        if len(data) < last - first:
            try:
                data = fetch_range(self._files, self._path, first, last, self._config)
                if len(data) < last - first:
                    raise OSError(redacted(f"{self._path}: bytes {first}-{last} asked for, only {len(data)} came"))
            except OSError as error:
                self.failure = error
                raise
        self._pieces[first] = data
        while len(self._pieces) > HELD_PIECES:
            del self._pieces[next(iter(self._pieces))]
        return data

    def close(self) -> None:
        """Forget what is held."""
        self._pieces.clear()


def copy_of(url: str, config: ReadingConfig) -> bytes:
    """A whole small file: a list of paths."""
    files, path = file_system(url, config)
    return with_retries(url, lambda: bytes(files.cat_file(path)), config)
