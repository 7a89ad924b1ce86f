"""A model that floret wrote, as the file that fastText reads."""

from __future__ import annotations

import struct

_MAGIC, _VERSION = 793712314, 12  # of fastText's files (src/fasttext.cc); floret kept both
_START = struct.Struct("<2i11i")  # magic, version, and the arguments from `dim` to `maxn` (src/args.cc)
_ADDED = struct.Struct("<2i")  # what floret writes between them and the rest: hashCount and mode
_REST = struct.Struct("<id")  # lrUpdateRate and t
_EXPECTED = (100, 1e-4)  # the values of these two that no training of ours changes


def to_fasttext(data: bytes) -> bytes:
    """The same model without the two arguments that floret added; both are for vectors, not for a classifier.

    Raises ValueError where the file is not laid out as floret 0.10 does.
    """
    end = _START.size + _ADDED.size
    if len(data) < end + _REST.size or _START.unpack_from(data)[:2] != (_MAGIC, _VERSION):
        raise ValueError("not a file that floret wrote")
    if _REST.unpack_from(data, end) != _EXPECTED:
        raise ValueError("the head of the file is not laid out as that of floret 0.10")
    return data[: _START.size] + data[end:]
