"""The metadata of a GIF file: extensions of applications and comments are left out, pictures are copied."""

from __future__ import annotations

from collections.abc import Iterator

from obelics_pipeline.policy.image_safety.policy import Left

EXTENSION, PICTURE, TRAILER = 0x21, 0x2C, 0x3B
CONTROL, PLAIN_TEXT, COMMENT, APPLICATION = 0xF9, 0x01, 0xFE, 0xFF
LOOPS = (b"NETSCAPE2.0", b"ANIMEXTS1.0", b"ICCRGBG1012")  # how often it is played; colours


def strip(content: bytes, left: Left) -> bytes:
    """The same picture with the metadata that a policy leaves; what follows its end is cut off.

    Raises ValueError where the blocks cannot be told.
    """
    return b"".join(_parts(content, left))


def _parts(content: bytes, left: Left) -> Iterator[bytes]:
    at = 13 + _colours(content, 10)
    yield content[:at]
    while at < len(content):
        kind = content[at]
        if kind == TRAILER:
            yield content[at : at + 1]
            return
        if kind == PICTURE:
            start = at
            at = _blocks_end(content, at + 10 + _colours(content, at + 9) + 1)
            yield content[start:at]
        elif kind == EXTENSION:
            start, label = at, _byte(content, at + 1)
            at = _blocks_end(content, at + 2)
            named = content[start + 3 : start + 14]
            known = label in (CONTROL, PLAIN_TEXT) or (label == APPLICATION and named in LOOPS)
            if known or (label == COMMENT and left.texts):
                yield content[start:at]
        else:
            at += 1  # decoders skip bytes that are no block
    yield bytes((TRAILER,))  # cut off behind its last block: decoders take it so


def _colours(content: bytes, flags_at: int) -> int:
    flags = _byte(content, flags_at)
    return 3 * 2 ** ((flags & 7) + 1) if flags & 0x80 else 0


def _blocks_end(content: bytes, at: int) -> int:
    while size := _byte(content, at):
        at += 1 + size
    return at + 1


def _byte(content: bytes, at: int) -> int:
    if at >= len(content):
        raise ValueError("cut off")
    return content[at]
