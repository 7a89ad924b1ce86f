"""The plain files of a tar that nobody vouches for: where each begins, and how long it is. Nothing is unpacked."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

BLOCK = tarfile.BLOCKSIZE
_PLAIN = (tarfile.REGTYPE, tarfile.AREGTYPE)
_WITHOUT_DATA = (
    tarfile.LNKTYPE, tarfile.SYMTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE,
)  # fmt: skip


class SourceDamaged(Exception):
    """A file of images cannot be read from some place on; the message says what is wrong there."""


@dataclass(frozen=True, slots=True)
class TarMember:
    """A plain file in a tar, in bytes."""

    name: str
    offset: int
    size: int


def tar_members(tar: IO[bytes], size: int) -> Iterator[TarMember]:
    """The plain files of a tar of `size` bytes, in order. Links, folders and extended headers are skipped.

    A member is known by its 512 bytes of header alone, so that no length that a stranger wrote is ever read into
    memory. Raises SourceDamaged where a header is damaged, a member reaches beyond the end, or the end is missing.
    """
    at = 0
    while at + BLOCK <= size:
        tar.seek(at)
        block = tar.read(BLOCK)
        if block.count(0) == BLOCK:
            return
        try:
            header = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        except tarfile.HeaderError as error:
            raise SourceDamaged(f"no tar member at byte {at} ({error})") from None
        length = 0 if header.type in _WITHOUT_DATA else header.size
        after = at + BLOCK + -(-length // BLOCK) * BLOCK
        if length < 0 or at + BLOCK + length > size:
            raise SourceDamaged(f"the member at byte {at} ends beyond the tar")
        if header.type in _PLAIN:
            yield TarMember(header.name, at + BLOCK, length)
        at = after
    raise SourceDamaged(f"the tar stops at byte {size}, without its end")
