"""Expanding what a person names: paths, globs, URLs, lists of them, Common Crawl's lists of keys."""

from __future__ import annotations

import glob
import gzip
import os
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from obelics_pipeline.core.config.reading import ReadingConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.stages.read.missing import MissingInputs, together
from obelics_pipeline.stages.read.remote import copy_of, file_system, is_remote, with_retries

PATHS_FILE = re.compile(r"\.paths(\.gz)?$")
MAX_LIST = 256 * 2**20  # bytes of a list, inflated; a crawl's warc.paths is 15 MB


@dataclass(frozen=True)
class InputFile:
    """A file that was named: where it is, what it is called in documents, and what makes it the same file."""

    path: str
    name: str
    identity: str


def expand(pattern: str, config: ReadingConfig) -> Iterator[InputFile]:
    """The files that one pattern names; a list is followed one level deep. Raises UserError,
    MissingInputs only when all that is there was given."""
    pattern = pattern.removeprefix("file://")
    place = urlsplit(pattern).path if is_remote(pattern) else pattern
    if PATHS_FILE.search(place):
        yield from _keys(pattern, config)
    elif place.lower().endswith(".txt"):
        yield from together(_files(_beside(line, pattern), config) for line in _lines(pattern, config))
    else:
        yield from _files(pattern, config)


def resolve_key(key: str, config: ReadingConfig) -> str:
    """The path or URL of a Common Crawl key below `pointer_root`. Raises ValueError for one that leads out of it."""
    parts = key.split("/")
    if not key or "\\" in key or "\0" in key or any(part in ("", ".", "..") for part in parts) or ":" in parts[0]:
        raise ValueError(f"{key!r} is no key relative to {config.pointer_root}")
    return f"{config.pointer_root.removeprefix('file://').rstrip('/')}/{key}"


def _files(pattern: str, config: ReadingConfig) -> Iterator[InputFile]:
    return _remote_files(pattern, config) if is_remote(pattern) else _local_files(pattern)


def _keys(pattern: str, config: ReadingConfig) -> Iterator[InputFile]:
    for key in _lines(pattern, config):
        try:
            path = resolve_key(key, config)
        except ValueError as error:
            raise UserError(f"{pattern}: {error}; such a file lists keys (crawl-data/…/x.warc.gz)") from None
        yield InputFile(path, key, path if is_remote(path) else os.path.realpath(path))


def _lines(pattern: str, config: ReadingConfig) -> list[str]:
    """The entries of a list file, without comments and empty lines."""
    try:
        data = copy_of(pattern, config) if is_remote(pattern) else Path(pattern).read_bytes()
        if data.startswith(b"\x1f\x8b"):
            data = _inflate(data)
        lines = [line.strip() for line in data.decode("utf-8").splitlines()]
    except (OSError, UnicodeDecodeError, zlib.error, EOFError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise UserError(f"{pattern}: this list cannot be read: {reason}") from None
    entries = [line for line in lines if line and not line.startswith("#")]
    if not entries:
        raise UserError(f"{pattern}: the list is empty; it needs one path or URL per line")
    return entries


def _inflate(data: bytes) -> bytes:
    if len(data) * 1032 > MAX_LIST:  # only then can it be too long: deflate reaches 1032 to 1
        out = zlib.decompressobj(31).decompress(data, MAX_LIST + 1)
        if len(out) > MAX_LIST:
            raise OSError(f"longer than {MAX_LIST} bytes")
    return gzip.decompress(data)


def _beside(line: str, listing: str) -> str:
    """A relative path of a list is meant from here, or else from the list's folder."""
    if is_remote(line) or is_remote(listing) or os.path.isabs(line) or _local_matches(line):
        return line
    return os.path.join(os.path.dirname(listing), line)


def _local_matches(pattern: str) -> list[str]:
    if os.path.lexists(pattern) or not glob.has_magic(pattern):
        return [pattern] if os.path.exists(pattern) else []
    return sorted(path for path in glob.glob(pattern, recursive=True) if not os.path.isdir(path))


def _local_files(pattern: str) -> Iterator[InputFile]:
    pattern = os.path.expanduser(pattern)
    matches = _local_matches(pattern)
    if not matches:
        what = "matches no file" if glob.has_magic(pattern) else "no such file"
        raise MissingInputs([f"{pattern}: {what}"])
    fixed = _fixed_part(pattern) if matches != [pattern] else os.path.dirname(pattern)
    for path in matches:
        if os.path.isdir(path):
            raise UserError(f"input {path}: is a folder; give its files, e.g. '{os.path.join(path, '*.warc.gz')}'")
        if not os.access(path, os.R_OK):
            raise UserError(f"input {path}: no permission to read it")
        name = os.path.relpath(path, fixed or ".").replace(os.sep, "/")
        yield InputFile(path, name, os.path.realpath(path))


def _fixed_part(pattern: str) -> str:
    """The folder of a glob up to its first component with a wildcard."""
    fixed: list[str] = []
    for part in pattern.split("/"):
        if glob.has_magic(part):
            break
        fixed.append(part)
    return "/".join(fixed) or ("/" if pattern.startswith("/") else "")


def _remote_files(pattern: str, config: ReadingConfig) -> Iterator[InputFile]:
    files, path = file_system(pattern, config)
    protocol = pattern.partition("://")[0]
    magic = "*[" if protocol in ("http", "https") else "*?["  # a question mark of a web URL begins its query
    urls = [pattern]
    if any(char in pattern for char in magic):
        try:
            matches = with_retries(pattern, lambda: sorted(files.glob(path)), config)
        except OSError as error:
            raise UserError(f"input {error}") from None
        urls = [files.unstrip_protocol(match) for match in matches]
        if not urls:
            raise UserError(f"input {pattern}: matches no file (a web server must list its folders for a glob to work)")
    for url in urls:
        name = unquote(
            urlsplit(url).path if protocol in ("http", "https") else url.partition("://")[2].partition("/")[2]
        )
        yield InputFile(url, name.lstrip("/"), url)
