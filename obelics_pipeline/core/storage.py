"""Where a run's files lie: a local folder, or a prefix of an object store behind fsspec.

A `Location` is joined and named like a path (`/`, `.name`, `.parent`); what is done with its content is here, because a
disk and an object store differ: on a disk a file appears whole by a rename, in a store by one put, and a request costs
milliseconds. No rename, append or lock of a store is assumed, only that a put is whole, that a conditional put tells
who was first, and that a listing shows what was put before it (docs/storage.md). Where this process holds the folder of
a run in a store, `fence` is asked before anything there is replaced or removed.
"""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
from upath import UPath

from obelics_pipeline.core.access import KNOWN, missing_package, reaching
from obelics_pipeline.core.content_name import DIGITS, stated_hash
from obelics_pipeline.core.errors import Damaged, Stopped, UserError
from obelics_pipeline.core.fence import fence_around, fence_of_run_level
from obelics_pipeline.core.object_version import LARGEST_PUT
from obelics_pipeline.core.ranged import Ranged
from obelics_pipeline.core.redacted import redacted

TEMPORARY = ".tmp-"  # prefix of local files that are not whole yet
PIECE = 8 * 2**20  # bytes of one request where a large object is read in order
WHOLE = 16 * 2**20  # bytes: a Parquet object below this is fetched by one request, a larger one in ranges
BUSY_TRIES = 5  # of a conditional put that met another at the same moment (S3 answers 409: try again)
AT_ONCE = 32  # requests for small files at the same time: each takes some 20 ms, nearly all of it waiting

Location = Path | UPath
Read = TypeVar("Read")
Item = TypeVar("Item")


def location(text: str, options: Mapping[str, Mapping[str, Any]] | None = None) -> Location:
    """A local path, or the location behind a URL; `options` are those of the fsspec file systems, by protocol.

    Raises UserError for a protocol that is unknown, or whose package is missing.
    """
    protocol, mark, _ = text.partition("://")
    if not mark or protocol in ("file", "local"):
        return Path(text.removeprefix("file://").removeprefix("local://"))
    settings: dict[str, Any] = {"use_listings_cache": False}  # a cached listing does not show what others wrote
    try:
        found: UPath = UPath(text.rstrip("/"), **(settings | dict((options or {}).get(protocol, {}))))
        _ = found.fs
    except ImportError:
        raise UserError(missing_package(text)) from None
    except ValueError as error:
        raise UserError(f"{text}: {error}; valid are paths and URLs of {', '.join(KNOWN)}") from None
    return found


def is_local(where: Location) -> bool:
    """Whether a location is on a disk of this machine, or mounted here."""
    return isinstance(where, Path)


def scratch_of(where: Location) -> Path:
    """The local folder for a location of a run: for locks, journals and other files that one machine needs.

    Returns a local location itself. Raises UserError if another user owns the folder for temporary files.
    """
    if isinstance(where, Path):
        return where
    protocol, _, rest = redacted(str(where)).partition("://")
    return _scratch().joinpath(protocol, *(part for part in rest.split("/") if part.strip(".")))


def _scratch() -> Path:
    """This user's folder below the folder for temporary files (TMPDIR)."""
    folder = Path(tempfile.gettempdir()) / f"obelics-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        state = folder.lstat()
    except OSError as error:
        raise UserError(f"{folder}: cannot be made ({error.strerror}); set TMPDIR to a folder of your own") from None
    if state.st_uid != os.getuid() or not folder.is_dir() or folder.is_symlink():
        raise UserError(f"{folder}: belongs to another user; set TMPDIR to a folder of your own")
    return folder


def sweep_scratch() -> None:
    """Remove the drafts that killed processes of this machine left."""
    for path in _scratch().glob(f"{TEMPORARY}{socket.gethostname()}-*"):
        process = path.name.removeprefix(f"{TEMPORARY}{socket.gethostname()}-").partition("-")[0]
        if process.isdigit() and not Path(f"/proc/{process}").exists():
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


def draft_for(folder: Location, suffix: str) -> Path:
    """A new local path to write a file to that will be put below `folder`."""
    if isinstance(folder, Path):
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"{TEMPORARY}{secrets.token_hex(8)}{suffix}"
    return _scratch() / f"{TEMPORARY}{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(8)}{suffix}"


@contextmanager
def draft(target: Location) -> Iterator[Path]:
    """A local file to write; when the block ends well it replaces `target`, whole. Otherwise it is removed."""
    path = draft_for(target.parent, target.suffix)
    try:
        yield path
        put(path, target)
    finally:
        path.unlink(missing_ok=True)


def put(path: Path, target: Location) -> None:
    """Move a whole local file to its final path, over what is there. On a disk both must be on one file system."""
    if isinstance(target, Path):
        target.parent.mkdir(parents=True, exist_ok=True)
        sync(path)
        os.replace(path, target)
        return
    _put_object(path, target)
    path.unlink(missing_ok=True)


def _put_object(body: bytes | Path, target: UPath) -> None:
    """Put bytes, or a local file, over what is there, as far as a fence allows it."""
    size = len(body) if isinstance(body, bytes) else body.stat().st_size
    if (fence := fence_of_run_level(target)) is not None and size <= LARGEST_PUT:
        return fence.overwrite(target, body)
    if (fence := fence_around(target)) is not None:
        fence.check()
    with reaching(target):
        if isinstance(body, bytes):
            target.fs.pipe_file(target.path, body)
        else:
            target.fs.put_file(str(body), target.path)


def copy(source: UPath, target: UPath) -> None:
    """Copy an object within its store, over what is there: its bytes do not come here. Raises FileNotFoundError."""
    if (fence := fence_around(target)) is not None:
        fence.check()
    with reaching(source):
        target.fs.cp_file(source.path, target.path)


def at_once(do: Callable[[Item], object], items: Iterable[Item]) -> None:
    """Apply `do`, which asks a store for something, to all items, many at a time. Raises what `do` raises."""
    with ThreadPoolExecutor(AT_ONCE) as threads:
        for _ in threads.map(do, items):
            pass


def put_once(path: Path, target: UPath, sha256: str) -> None:
    """Move a whole local file to its final name in an object store, where no file was before, or an equal one.

    Raises Stopped where another content is there: a name is used once, so another run must be at work.
    """
    first = _first(target, lambda: target.fs.put_file(str(path), target.path, mode="create"))
    if not first and file_sha256(target) != sha256:
        raise Stopped(
            f"{target}: is there already, with other content; is another run at work there? if not, remove it and run "
            "the same command again"
        )
    path.unlink(missing_ok=True)


def write_bytes(target: Location, data: bytes) -> None:
    """Write a whole file or nothing, over what is there: a reader never sees half of it."""
    if isinstance(target, Path):
        with draft(target) as path:
            path.write_bytes(data)
    else:
        _put_object(data, target)


def create(target: Location, data: bytes) -> bool:
    """Create a file that is not there yet, whole. False where another was first."""
    if not isinstance(target, Path):
        return _first(target, lambda: target.fs.pipe_file(target.path, data, mode="create"))
    path = draft_for(target.parent, target.suffix)
    try:
        path.write_bytes(data)
        sync(path)
        os.link(path, target)
        return True
    except FileExistsError:
        return False
    finally:
        path.unlink(missing_ok=True)


def _first(target: UPath, put: Callable[[], Any]) -> bool:
    """Whether a conditional put was the first."""
    for tried in range(BUSY_TRIES):
        try:
            with reaching(target):
                put()
            return True
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno != errno.EBUSY or tried == BUSY_TRIES - 1:
                raise
            time.sleep(0.1 * 2**tried)
    raise AssertionError("unreachable")


def read_bytes(where: Location) -> bytes:
    """The whole content of a file, of a small one by one request. Raises FileNotFoundError."""
    if isinstance(where, Path):
        return where.read_bytes()
    first = _first_bytes(where)
    return first if len(first) < WHOLE else b"".join(pieces(where))


def read_bytes_at(where: Location, offset: int, length: int) -> bytes:
    """The bytes [offset, offset + length) of a file, by one request; fewer where it ends before. Raises OSError."""
    stream = where.open("rb") if isinstance(where, Path) else Ranged(where, offset + length)
    with stream:
        stream.seek(offset)
        return stream.read(length)


def read_end(where: UPath, length: int) -> bytes:
    """The last so many bytes of an object, or all that it has, by one request. Raises OSError."""
    with reaching(where):
        return bytes(where.fs.cat_file(where.path, start=-length))


def _first_bytes(where: UPath, length: int = WHOLE) -> bytes:
    """Up to so many bytes. A range is asked for, because clients ask for the size before they ask for everything."""
    try:
        with reaching(where):
            return bytes(where.fs.cat_file(where.path, start=0, end=length))
    except FileNotFoundError:
        raise
    except OSError:  # an empty object has no ranges
        if size_of(where) != 0:
            raise
        return b""


def read_many(locations: Sequence[Location]) -> Iterator[bytes | None]:
    """The content of many small files, in their order; None for one that is not there."""
    return _ahead(_or_none, locations, 1000)


def _ahead(read: Callable[[Location], Read], locations: Sequence[Location], held: int) -> Iterator[Read]:
    """Apply `read` to each location, in order: remote ones in threads, at most `held` results at a time."""
    if all(isinstance(where, Path) for where in locations):
        yield from map(read, locations)
        return
    with ThreadPoolExecutor(AT_ONCE) as threads:
        for i in range(0, len(locations), held):
            yield from threads.map(read, locations[i : i + held])


def _or_none(where: Location) -> bytes | None:
    try:
        return read_bytes(where)
    except FileNotFoundError:
        return None


def pieces(where: Location) -> Iterator[bytes]:
    """The content of a file of any size, in order, a few MiB at a time."""
    if isinstance(where, Path):
        with where.open("rb") as stream:
            while piece := stream.read(PIECE):
                yield piece
        return
    first = _first_bytes(where, PIECE)
    yield first
    if len(first) < PIECE:
        return
    size = size_of(where)
    if size is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(where))
    for start in range(PIECE, size, PIECE):
        with reaching(where):
            piece = bytes(where.fs.cat_file(where.path, start=start, end=min(start + PIECE, size)))
        yield piece


def file_sha256(where: Location) -> str:
    """sha256 of a file's bytes, in hexadecimal."""
    if isinstance(where, Path):
        with where.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    digest = hashlib.sha256()
    for piece in pieces(where):
        digest.update(piece)
    return digest.hexdigest()


@contextmanager
def local_copy(where: Location) -> Iterator[Path]:
    """A file as a local one of the same name: itself, or a copy that is gone afterwards. Raises FileNotFoundError."""
    if isinstance(where, Path):
        yield where
        return
    folder = Path(tempfile.mkdtemp(prefix=f"{TEMPORARY}{socket.gethostname()}-{os.getpid()}-", dir=_scratch()))
    try:
        with (folder / where.name).open("xb") as stream:
            for piece in pieces(where):
                stream.write(piece)
        yield folder / where.name
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def local_copies(locations: Sequence[Location], folder: Path) -> Iterator[Path]:
    """Files as local ones, in their order: themselves, or copies in a folder, of which some are made ahead."""
    return _ahead(partial(_copied, folder=folder), locations, AT_ONCE)


def _copied(where: Location, folder: Path) -> Path:
    if isinstance(where, Path):
        return where
    descriptor, name = tempfile.mkstemp(dir=folder)
    with open(descriptor, "wb") as stream:
        for piece in pieces(where):
            stream.write(piece)
    return Path(name)


def size_of(where: Location) -> int | None:
    """Bytes of a file; None if the file does not exist."""
    try:
        if isinstance(where, Path):
            return where.stat().st_size
        with reaching(where):
            return int(where.fs.size(where.path))
    except (FileNotFoundError, NotADirectoryError):
        return None


def files_below(folder: Location) -> dict[str, int]:
    """Every file below a folder, by its name within it, sorted, with its size in bytes; empty where nothing is."""
    if isinstance(folder, Path):
        found = [path for path in folder.rglob("*") if path.is_file()]
        return {str(path.relative_to(folder)): path.stat().st_size for path in sorted(found)}
    return _listed(folder, folder.path.rstrip("/") + "/", {})


def names_in(folder: Location, prefix: str = "") -> list[str]:
    """The names of the files in a folder, not below it, that begin with `prefix`, sorted."""
    if isinstance(folder, Path):
        try:
            return sorted(e.name for e in os.scandir(folder) if e.name.startswith(prefix) and e.is_file())
        except (FileNotFoundError, NotADirectoryError):
            return []
    return [name for name in _listed(folder, folder.path.rstrip("/") + "/", {"prefix": prefix}) if "/" not in name]


def folders_in(folder: UPath) -> list[str]:
    """The names of the folders in a folder of an object store, sorted: by one request for a thousand names."""
    return sorted(_name_of(entry) for entry in _entries(folder) if entry["type"] == "directory")


def sizes_in(folder: UPath) -> dict[str, int]:
    """Bytes of the files in a folder of an object store by name; what lies in folders below it is not listed."""
    return {_name_of(entry): int(entry["size"]) for entry in _entries(folder) if entry["type"] == "file"}


def _entries(folder: UPath) -> list[dict[str, Any]]:
    with reaching(folder):
        try:
            found: list[dict[str, Any]] = folder.fs.ls(folder.path, detail=True)
        except FileNotFoundError:
            return []
    return found


def _name_of(entry: Mapping[str, Any]) -> str:
    return str(entry["name"]).rstrip("/").rpartition("/")[2]


def _listed(folder: UPath, root: str, asked: Mapping[str, str]) -> dict[str, int]:
    """What a store lists below a folder: one request for a thousand objects."""
    with reaching(folder):
        try:
            found = folder.fs.find(folder.path, detail=True, **asked)
        except FileNotFoundError:
            return {}
    names = ((path.removeprefix(root), info) for path, info in sorted(found.items()) if path.startswith(root))
    return {name: int(info["size"]) for name, info in names if name.startswith(asked.get("prefix", ""))}


def remove(locations: Iterable[Location]) -> None:
    """Remove files; files that do not exist are skipped.

    They stay away: on a disk the removal is synced, or a power cut could bring back what a later note calls gone.
    """
    remote: list[UPath] = []
    folders: dict[Path, None] = {}
    for where in locations:
        if not isinstance(where, Path):
            remote.append(where)
            continue
        with suppress(FileNotFoundError):
            where.unlink()
            folders[where.parent] = None
    for folder in folders:
        sync(folder)
    if remote:
        at_once(_remove_object, remote)


def _remove_object(where: UPath) -> None:
    """One by one, though stores delete many at a time: fsspec would take names for patterns there."""
    if (fence := fence_around(where)) is not None:
        fence.check()
    with suppress(FileNotFoundError), reaching(where):
        where.fs.rm_file(where.path)


def remove_tree(where: Location) -> None:
    """Remove a folder and all that is in it, if it is there. On a disk it stays away, as with `remove`."""
    if isinstance(where, Path):
        if where.exists():
            shutil.rmtree(where, ignore_errors=True)
            sync(where.parent)
    else:
        remove(where / name for name in files_below(where))


@contextmanager
def open_parquet(where: Location) -> Iterator[pq.ParquetFile]:
    """A Parquet file to read row groups from. Raises OSError or pa.ArrowException, and Damaged (see `hold_to_name`).

    A small object is fetched whole; of a large one the column chunks that are asked for, in large ranges.
    """
    with pq.ParquetFile(_opened(where), pre_buffer=not isinstance(where, Path)) as source:
        yield source


def _opened(where: Location) -> Any:
    """What Arrow reads a file from, once it was held to its name.

    A small one is read once: what is hashed is what Arrow is given. Of a large object only ranges are asked for: what
    its store answers is taken as it is, as a store holds checksums of its own.
    """
    if stated_hash(where.name) is None:
        return where if isinstance(where, Path) else _object(where, _first_bytes(where))
    try:
        if isinstance(where, Path) and where.stat().st_size >= WHOLE:
            hold_to_name(where)
            return where
        content = where.read_bytes() if isinstance(where, Path) else _first_bytes(where)
    except FileNotFoundError:
        raise Damaged(str(where)) from None
    if isinstance(where, Path) or len(content) < WHOLE:
        _compare(where, hashlib.sha256(content).hexdigest())
        return pa.BufferReader(content)
    return _object(where, content)


def _object(where: UPath, first: bytes) -> Any:
    """An object for Arrow: its content, or its ranges where it is large; `first` are its first bytes."""
    if len(first) < WHOLE:
        return pa.BufferReader(first)
    return pa.PythonFile(Ranged(where, size_of(where) or 0), mode="r")


def hold_to_name(where: Location) -> None:
    """Read a file that is named by its content (see `content_name`). Raises Damaged where it has another, or is gone.

    A file of another name is not read.
    """
    if stated_hash(where.name) is not None:
        try:
            _compare(where, file_sha256(where))
        except FileNotFoundError:
            raise Damaged(str(where)) from None


def _compare(where: Location, sha256: str) -> None:
    if sha256[:DIGITS] != stated_hash(where.name):
        raise Damaged(str(where))


def read_schema(where: Location) -> pa.Schema:
    """The columns of a Parquet file."""
    with open_parquet(where) as source:
        return source.schema_arrow


def read_table(where: Location, columns: Sequence[str] | None = None, filters: Any = None) -> pa.Table:
    """A whole Parquet file, or the rows that pass the filters. Raises as `open_parquet`."""
    return pq.read_table(_opened(where), columns=columns, filters=filters, pre_buffer=not isinstance(where, Path))


def read_tables(locations: Sequence[Location], columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
    """Whole small Parquet files, in their order. Raises as `open_parquet`."""
    return _ahead(partial(read_table, columns=columns), locations, 4 * AT_ONCE)


def write_table(table: pa.Table, where: Location) -> None:
    """Write a Parquet file, whole or not at all."""
    with draft(where) as path:
        pq.write_table(table, path, compression="zstd")


def sync(path: Path) -> None:
    """Bring a local file, or the names in a local folder, to the disk itself."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
