"""The key of tombstones, and what is hashed with it."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from pathlib import Path

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import Location, create, read_bytes

KEY_BYTES = 32
SIZE = 16  # bytes of a hash: among 10^9 of them two meet by chance once in 10^20 corpora
_KEY = re.compile(rb"[0-9a-f]{64}")

# What a hash is of. A kind is a part of it, so that equal values of two kinds have nothing in common.
URL, HOST, ID, SHA256 = b"url", b"host", b"doc_id", b"sha256"
IMAGE_SET, NAME, BAND, MASK = b"image set", b"name", b"band", b"mask"


class Keyed:
    """Hashes with a key (BLAKE2b, RFC 7693): a person who has only the hashes cannot try values on them."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def of(self, kind: bytes, value: bytes | str) -> bytes:
        """`SIZE` bytes of a value of a kind."""
        data = value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass")
        return hashlib.blake2b(data, digest_size=SIZE, key=self._key, person=kind).digest()

    @property
    def fingerprint(self) -> str:
        """Tells keys apart, and nothing of them."""
        return self.of(b"fingerprint", b"").hex()


def make_key(place: Location, given: Path | None = None) -> Keyed:
    """The key that lies there; where none does, the one of a file, or a new one, is put there, for its owner's eyes.

    Raises UserError for a file that holds no key, or another one than lies there already.
    """
    wanted = None if given is None else _parsed(given, f"--key {given}")
    if not _exists(place):
        data = (wanted or secrets.token_bytes(KEY_BYTES)).hex().encode() + b"\n"
        if isinstance(place, Path):
            _create_private(place, data)
        else:
            create(place, data)
    key = _parsed(place, str(place))
    if wanted is not None and wanted != key:
        raise UserError(f"--key {given}: the tombstones of {place.parent} have another key; leave --key out")
    return Keyed(key)


def read_key(place: Location) -> Keyed:
    """The key of some tombstones. Raises UserError if the file is missing, or holds no key."""
    return Keyed(_parsed(place, str(place)))


def _exists(place: Location) -> bool:
    try:
        return bool(read_bytes(place))
    except FileNotFoundError:
        return False


def _parsed(place: Location, said: str) -> bytes:
    try:
        text = read_bytes(place).strip()
    except OSError as error:
        why = error.strerror or "is not there"
        raise UserError(f"{said}: the key of tombstones cannot be read ({why}); give the file back") from None
    if not _KEY.fullmatch(text):
        raise UserError(f"{said}: not a key of tombstones, which is a line of {2 * KEY_BYTES} hexadecimal digits")
    return bytes.fromhex(text.decode())


def _create_private(path: Path, data: bytes) -> None:
    """Whole or not at all, and at no moment to be read by others."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".tmp-{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)
