"""Opening what a path or URL names."""

from __future__ import annotations

import os

from obelics_pipeline.core.config.reading import ReadingConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.stages.read.missing import MissingInputs
from obelics_pipeline.stages.read.remote import RemoteSource, fetch_range, file_system, is_remote, with_retries
from obelics_pipeline.stages.read.source import LocalSource, Source

STATE_KEYS = ("ETag", "etag", "LastModified", "Last-Modified", "last_modified", "mtime", "updated", "created")


def open_source(path: str, start: int, end: int, config: ReadingConfig, size: int | None = None) -> Source:
    """The bytes of a local file or a URL; `start` and `end` say which part is going to be read, mostly."""
    if is_remote(path):
        return RemoteSource(path, start, end, config, size)
    return LocalSource(path.removeprefix("file://"))


def read_range(path: str, start: int, end: int, config: ReadingConfig) -> bytes:
    """Bytes [start, end) of a local file or a URL, fewer where it ends before. Raises OSError."""
    if is_remote(path):
        files, inner = file_system(path, config)
        return fetch_range(files, inner, start, end, config)
    source = LocalSource(path)
    try:
        return source.at(start, end - start)
    finally:
        source.close()


def file_facts(path: str, config: ReadingConfig) -> tuple[int, str]:
    """Size in bytes, and a text that differs when the file changed. Raises UserError where it cannot be looked up."""
    try:
        if not is_remote(path):
            state = os.stat(path)
            return state.st_size, f"{state.st_size}:{state.st_mtime_ns}"
        files, inner = file_system(path, config)
        facts = with_retries(path, lambda: files.info(inner), config)
    except FileNotFoundError:
        raise MissingInputs([f"{path}: no such file"]) from None
    except OSError as error:
        raise UserError(f"input {error}; check the address, the network and the credentials") from None
    if facts.get("size") is None:
        raise UserError(f"input {path}: the server does not tell its size; download the file and give its path")
    mark = next((str(facts[key]) for key in STATE_KEYS if facts.get(key)), "")
    return int(facts["size"]), f"{facts['size']}:{mark}"
