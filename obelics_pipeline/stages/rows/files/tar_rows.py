"""Rows of a tar in WebDataset's convention: members that stand together and have one name up to its first dot."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator, Mapping
from typing import Any

from obelics_pipeline.core.storage import Location, local_copy
from obelics_pipeline.stages.rows.files.json_lines import parsed
from obelics_pipeline.stages.rows.files.raw_row import MAX_BYTES, MayRead, RawRow
from obelics_pipeline.stages.rows.layouts.mint1t import FILES
from obelics_pipeline.stages.rows.row_error import NOT_JSON, TOO_LARGE, UNREADABLE_REST, WORKER_DIED, RowError

JSON = "json"  # the name after the key of the member that describes a document


def tar_rows(where: Location, may_read: MayRead) -> Iterator[RawRow]:
    """A row per key: the object in its JSON member, and the bytes of its other members under `FILES`.

    Raises OSError where the file cannot be opened.
    """
    number = 0
    group = _Group("", True)
    with local_copy(where) as path, path.open("rb") as stream:
        try:
            with tarfile.open(fileobj=stream, mode="r:", errorlevel=0) as tar:
                while (member := tar.next()) is not None:
                    tar.members.clear()  # type: ignore[attr-defined]  # tarfile keeps every header: memory would grow with the tar
                    key, _, name = member.name.rpartition("/")[2].partition(".")
                    key = f"{member.name.rpartition('/')[0]}/{key}"
                    if key != group.key:
                        if group.key:
                            yield RawRow(number, group.values())
                            number += 1
                        group = _Group(key, may_read(number))
                    group.add(tar, member, name)
        except Exception as error:  # tarfile meets hostile headers with whatever it stumbles over
            if group.key:
                yield RawRow(number, RowError(UNREADABLE_REST, f"{type(error).__name__}: {str(error)[:100]}"))
            else:
                yield RawRow(number, RowError(UNREADABLE_REST, "no tar"))
            return
        if group.key:
            yield RawRow(number, group.values())


class _Group:
    """The members of one key so far."""

    def __init__(self, key: str, may_read: bool) -> None:
        self.key, self._may_read = key, may_read
        self._files: dict[str, bytes] = {}
        self._bytes = 0
        self._wrong: RowError | None = None if may_read else RowError(WORKER_DIED, "")

    def add(self, tar: tarfile.TarFile, member: tarfile.TarInfo, name: str) -> None:
        """Read a member, as far as the row may be read; what is no plain file has no place in a row."""
        self._bytes += member.size
        if self._wrong is None and self._bytes > MAX_BYTES:
            self._wrong, self._files = RowError(TOO_LARGE, f"more than {MAX_BYTES:,} bytes"), {}
        if self._wrong is None and member.type in (tarfile.REGTYPE, tarfile.AREGTYPE):
            content = tar.extractfile(member)
            data = b"" if content is None else content.read()
            if len(data) != member.size:
                raise tarfile.ReadError("the file ends within a member")
            self._files[name] = data

    def values(self) -> Mapping[str, Any] | RowError:
        """The row, or what is wrong with it."""
        if self._wrong is not None:
            return self._wrong
        if JSON not in self._files:
            return RowError(NOT_JSON, f"{self.key[-80:]!a} has no member .json")
        found = parsed(self._files.pop(JSON))
        return found if isinstance(found, RowError) else {**found, FILES: self._files}
