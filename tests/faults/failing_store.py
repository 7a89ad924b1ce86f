"""An object store in memory that fails when a seed says so: requests that are refused, done twice, or done unheard.

It has the door of S3: `with behind_s3(bucket)` makes it what is behind `s3://` in this process. As S3, it shows
what was put at once, and puts, copies and removals are whole. Each request is counted as an operation. Requests that
the package sends at the same time arrive in an order that the seed draws.
"""

from __future__ import annotations

import errno
import hashlib
import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import pytest
from fsspec.registry import _registry
from fsspec.spec import AbstractFileSystem

from obelics_pipeline.core import lease, storage
from obelics_pipeline.engines import groups
from obelics_pipeline.stages.fetch import run_images
from tests.faults.failing_disk import Disk

LATEST = 40  # requests, at most, until one that comes twice has come again
Request = Callable[[], Any]


@dataclass
class Bucket(Disk):
    """The objects by name, and what befalls the next request. `folder` is a location in it."""

    objects: dict[str, bytes] = field(default_factory=dict)
    watching: bool = False
    befalls: Callable[[Request], Any] | None = None
    late: list[tuple[int, Request]] = field(default_factory=list)  # when, by `requests`, and what then comes again
    requests: int = 0
    changed: Callable[[str], None] = lambda _name: None  # after each change of an object

    def request(self, what: str, name: str, do: Request) -> Any:
        """Count a request on an object, and let it fail if that is its turn."""
        if not self.watching:
            return do()
        self.operation(what, name)
        self.requests += 1
        for due in [due for due in self.late if due[0] <= self.requests]:
            self.late.remove(due)
            with suppress(OSError):
                due[1]()
        befalls, self.befalls = self.befalls, None
        return befalls(do) if befalls is not None else do()

    def operation(self, name: str, path: str) -> None:
        """See `Disk`."""
        self.refuse_the_dead()
        self.turn()
        self.refuse_the_dead()
        self.counted += 1
        self.names.append(f"{name} {path}")
        if (fail := self.fails.pop(self.counted, None)) is not None:
            fail()

    def refuse(self) -> None:
        """Have too many requests, this once: it is not done, and the client has given up trying."""
        raise OSError(errno.EIO, "SlowDown: Please reduce your request rate.")

    def lose_the_answer(self) -> None:
        """Do the request, and let the client wait in vain."""
        self.befalls = self._unheard

    def die_unheard(self) -> None:
        """Do the request; the process dies before it hears so."""
        self.befalls = self._last

    def repeat(self) -> None:
        """Do the request, and once more a little later: a part of the network kept it."""
        when = self.requests + 3 + self.requests % (LATEST - 3)

        def twice(do: Request) -> Any:
            self.late.append((when, do))
            return do()

        self.befalls = twice

    def _unheard(self, do: Request) -> Any:
        do()
        raise OSError(errno.ETIMEDOUT, "ReadTimeoutError: Read timed out.")

    def _last(self, do: Request) -> Any:
        do()
        self.kill()

    def put(self, name: str, content: bytes, only: Callable[[bytes | None], bool] = lambda _there: True) -> str:
        """Put an object where the one that is there is as it must be; returns its version, a hash of its bytes."""
        if not only(self.objects.get(name)):
            raise FileExistsError(errno.EEXIST, "PreconditionFailed", name)
        self.objects[name] = content
        self.changed(name)
        return _version(content)

    def take(self, name: str) -> None:
        """Remove an object; none is there afterwards."""
        if self.objects.pop(name, None) is not None:
            self.changed(name)

    def content(self, name: str) -> bytes:
        """Raises FileNotFoundError."""
        if name not in self.objects:
            raise FileNotFoundError(errno.ENOENT, "NoSuchKey", name)
        return self.objects[name]


def _version(content: bytes) -> str:
    return hashlib.md5(content, usedforsecurity=False).hexdigest()


class _Refused(Exception):
    """As the client of S3 tells that a condition did not hold."""

    response: ClassVar = {"Error": {"Code": "PreconditionFailed"}}


class _Door(AbstractFileSystem):
    """What the package asks of s3fs."""

    protocol = ("s3", "s3a")
    cachable = False
    bucket: ClassVar[Bucket]

    def _ask(self, what: str, path: str, do: Request) -> Any:
        return self.bucket.request(what, path, do)

    def split_path(self, path: str) -> tuple[str, str, None]:
        bucket, _, key = path.partition("/")
        return bucket, key, None

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **_: Any) -> bytes:
        content: bytes = self._ask("get", path, lambda: self.bucket.content(path))
        if start is not None and start >= len(content):
            raise OSError(errno.EINVAL, "InvalidRange: The requested range is not satisfiable")
        return content[start:end]

    def _open(self, path: str, mode: str = "rb", **_: Any) -> io.BytesIO:
        assert mode == "rb", "objects are put whole"
        return io.BytesIO(self.cat_file(path))

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **_: Any) -> None:
        content = bytes(value)
        if mode == "create":
            self._ask("create", path, lambda: self.bucket.put(path, content, lambda there: there is None))
        else:
            self._ask("put", path, lambda: self.bucket.put(path, content))

    def put_file(self, lpath: str, rpath: str, callback: Any = None, mode: str = "overwrite", **_: Any) -> None:
        self.pipe_file(rpath, Path(lpath).read_bytes(), mode)

    def cp_file(self, path1: str, path2: str, **_: Any) -> None:
        self._ask("copy", path2, lambda: self.bucket.put(path2, self.bucket.content(path1)))

    def rm_file(self, path: str) -> None:
        self._ask("remove", path, lambda: self.bucket.take(path))

    def call_s3(self, method: str, Bucket: str, Key: str, Body: Any, **condition: str) -> dict[str, str]:
        assert method == "put_object"
        content, match = Body if isinstance(Body, bytes) else Body.read(), condition.get("IfMatch")

        def holds(there: bytes | None) -> bool:
            return there is None if match is None else there is not None and _version(there) == match

        name = f"{Bucket}/{Key}"
        try:
            return {"ETag": self._ask("replace", name, lambda: self.bucket.put(name, content, holds))}
        except FileExistsError:
            raise OSError(errno.EINVAL, "PreconditionFailed") from _Refused()

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        name = path.rstrip("/")

        def found() -> dict[str, Any]:
            if name not in self.bucket.objects and any(other.startswith(f"{name}/") for other in self.bucket.objects):
                return {"name": name, "size": 0, "type": "directory"}
            return self._told(name, self.bucket.content(name))

        told: dict[str, Any] = self._ask("head", path, found)
        return told

    def ls(self, path: str, detail: bool = True, **_: Any) -> list[Any]:
        root = path.rstrip("/") + "/"
        below = self._ask("list", path, lambda: [name for name in self.bucket.objects if name.startswith(root)])
        firsts = {root + name.removeprefix(root).partition("/")[0] for name in below}
        if not firsts:
            raise FileNotFoundError(errno.ENOENT, "NoSuchKey", path)
        told = [
            self._told(name, self.bucket.objects[name])
            if name in self.bucket.objects
            else {"name": name, "size": 0, "type": "directory"}
            for name in sorted(firsts)
        ]
        return told if detail else [entry["name"] for entry in told]

    def find(self, path: str, maxdepth: Any = None, withdirs: bool = False, detail: bool = False, **asked: Any) -> Any:
        root = path.rstrip("/") + "/" + asked.get("prefix", "")
        found = self._ask("list", path, lambda: sorted(n for n in self.bucket.objects if n.startswith(root)))
        told = {name: self._told(name, self.bucket.objects[name]) for name in found}
        return told if detail else found

    def _told(self, name: str, content: bytes) -> dict[str, Any]:
        return {"name": name, "size": len(content), "type": "file", "ETag": _version(content)}


class _InAnyOrder:
    """For a pool of threads: each item in its turn, in an order that is drawn."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def __call__(self, _most: int) -> _InAnyOrder:
        return self

    def __enter__(self) -> _InAnyOrder:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def map(self, do: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        waiting = list(enumerate(items))
        self._random.shuffle(waiting)
        done = {at: do(item) for at, item in waiting}
        return iter([done[at] for at in sorted(done)])


@contextmanager
def behind_s3(bucket: Bucket) -> Iterator[None]:
    """Make this what every `s3://` of this process leads to, while the block runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_Door, "bucket", bucket, raising=False)
        patch.setitem(_registry, "s3", _Door)
        yield


@contextmanager
def asked(bucket: Bucket, random: Random) -> Iterator[None]:
    """Count its requests and let them fail, while the block runs; one command holds the folder, and none waits.

    Leases that are late have a simulator of their own (`tests.core.lease_simulator`): here a former holder is dead.
    """
    with pytest.MonkeyPatch.context() as patch:
        for module in (storage, groups, run_images):
            patch.setattr(module, "ThreadPoolExecutor", _InAnyOrder(random))
        patch.setattr(lease, "_is_dead", lambda _lease: True)
        patch.setattr(lease, "_clock", lambda: 0.0)
        patch.setattr(lease, "RENEW_SECONDS", 1e6)
        patch.setattr(bucket, "watching", True)
        yield
