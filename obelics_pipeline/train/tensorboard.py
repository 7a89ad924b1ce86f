"""`obelics tensorboard`: the numbers of a training as TensorBoard reads them, made from its journals at any time.

A training writes its own journals and nothing else: what is drawn from them can never hold a step up. The file needs no
package of TensorBoard's. It is a TFRecord of `Event` messages (tensorflow/core/util/event.proto), of which a scalar
needs five fields.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from obelics_pipeline.errors import UserError
from obelics_pipeline.storage import write_bytes
from obelics_pipeline.train.journal import EVALUATIONS, METRICS, read_journal

FOLDER = "tensorboard"
SKIPPED = ("attempt", "step", "cursor")  # of a line: they say which it is
_POLYNOMIAL = 0x82F63B78  # of CRC-32C, reflected (RFC 3720, appendix B.4)


def tensorboard(run: Path, output: Path | None = None) -> list[Path]:
    """Write a folder of events for each attempt of a training; returns them. Written anew as a whole at each call.

    Raises UserError for a folder that is no training.
    """
    if not (run / METRICS).is_file():
        raise UserError(f"{run}: not the folder of a training (it has no {METRICS}); see: obelics train")
    attempts: dict[int, list[bytes]] = {}
    for name, prefix in ((METRICS, ""), (EVALUATIONS, "held_out/")):
        for line in read_journal(run / name):
            values = {f"{prefix}{key}": value for key, value in numbers(line)}
            attempts.setdefault(int(line["attempt"]), []).append(event(int(line["step"]), values))
    target = output or run / FOLDER
    made = []
    for attempt, events in sorted(attempts.items()):
        folder = target / f"attempt-{attempt:05d}"
        folder.mkdir(parents=True, exist_ok=True)
        data = b"".join(record(data) for data in (_field(3, b"brain.Event:2"), *events))
        write_bytes(folder / "events.out.tfevents.0.obelics", data)
        made.append(folder)
    return made


def numbers(line: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, float]]:
    """The numbers of a line, those of inner parts by their names with slashes; what is null or text is left out."""
    for key, value in line.items():
        if isinstance(value, Mapping):
            yield from numbers(value, f"{before}{key}/")
        elif isinstance(value, int | float) and (before or key not in SKIPPED):
            yield f"{before}{key}", float(value)


def event(step: int, values: Mapping[str, float]) -> bytes:
    """An `Event` with some scalars. Its time is its step in seconds: equal journals give equal bytes."""
    summary = b"".join(
        _field(1, _field(1, tag.encode()) + b"\x15" + struct.pack("<f", _single(value)))
        for tag, value in values.items()
    )
    return b"\x09" + struct.pack("<d", float(step)) + b"\x10" + _varint(step) + _field(5, summary)


def record(data: bytes) -> bytes:
    """As TFRecord frames it: length and bytes, each with its masked checksum."""
    length = struct.pack("<Q", len(data))
    return length + struct.pack("<I", _masked(length)) + data + struct.pack("<I", _masked(data))


def _single(value: float) -> float:
    """A number beyond what 32 bits hold is infinite there."""
    try:
        struct.pack("<f", value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    return value


def _field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _table() -> list[int]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (_POLYNOMIAL if byte & 1 else 0)
        table.append(byte)
    return table


_TABLE = _table()


def crc32c(data: bytes) -> int:
    """CRC-32C (Castagnoli)."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def _masked(data: bytes) -> int:
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
