"""What TensorBoard is given is what the journals say, in the form that its own reader takes."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from obelics_pipeline.cli import main
from obelics_pipeline.train.tensorboard import crc32c, record, tensorboard


def fields(data: bytes) -> list[tuple[int, object]]:
    """The fields of a message of protobuf: its numbers with their values."""
    found: list[tuple[int, object]] = []
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        key = varint()
        value: object
        if key & 7 == 0:
            value = varint()
        elif key & 7 == 1:
            (value,), at = struct.unpack_from("<d", data, at), at + 8
        elif key & 7 == 5:
            (value,), at = struct.unpack_from("<f", data, at), at + 4
        else:
            length = varint()
            value, at = data[at : at + length], at + length
        found.append((key >> 3, value))
    return found


def events(path: Path) -> list[bytes]:
    """The records of a file; every checksum must be right."""
    data = path.read_bytes()
    found, at = [], 0
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        body = data[at + 12 : at + 12 + length]
        assert data[at : at + 16 + length] == record(body)
        found.append(body)
        at += 16 + length
    return found


def scalars(path: Path) -> dict[tuple[int, str], float]:
    found: dict[tuple[int, str], float] = {}
    for body in events(path)[1:]:
        event = dict(fields(body))
        assert isinstance(event[5], bytes) and isinstance(event[2], int)
        for _, value in fields(event[5]):
            assert isinstance(value, bytes)
            of_it = dict(fields(value))
            assert isinstance(of_it[1], bytes) and isinstance(of_it[2], float)
            found[event[2], of_it[1].decode()] = of_it[2]
    return found


def journal(path: Path, *lines: dict[str, object]) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_every_number_of_every_attempt_is_there_under_its_name(tmp_path: Path) -> None:
    inner = {"web": {"loss": 2.5, "targets": 300}}
    journal(
        tmp_path / "metrics.jsonl",
        {"attempt": 1, "step": 1, "cursor": 0, "loss": 2.25, "mfu": None, "action": None, "datasets": inner},
        {"attempt": 1, "step": 200, "cursor": 8, "loss": 1e300, "applied": True},
        {"attempt": 2, "step": 2, "cursor": 8, "loss": -0.5},
    )
    journal(tmp_path / "evaluations.jsonl", {"attempt": 1, "step": 200, "datasets": {"web": {"loss": 3.5}}})
    first, second = tensorboard(tmp_path)
    found = scalars(next(first.iterdir()))
    assert found == {
        (1, "loss"): 2.25,
        (1, "datasets/web/loss"): 2.5,
        (1, "datasets/web/targets"): 300.0,
        (200, "loss"): float("inf"),
        (200, "applied"): 1.0,
        (200, "held_out/datasets/web/loss"): 3.5,
    }
    assert scalars(next(second.iterdir())) == {(2, "loss"): -0.5}


def test_the_first_record_says_the_version_and_sums_are_crc_32c(tmp_path: Path) -> None:
    assert crc32c(b"123456789") == 0xE3069283  # RFC 3720
    journal(tmp_path / "metrics.jsonl", {"attempt": 1, "step": 1, "loss": 1.0})
    (folder,) = tensorboard(tmp_path, tmp_path / "board")
    assert dict(fields(events(next(folder.iterdir()))[0]))[3] == b"brain.Event:2"
    assert next(folder.iterdir()).name.startswith("events.out.tfevents.")


def test_a_run_at_work_can_be_drawn_and_half_a_line_waits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "metrics.jsonl").write_text('{"attempt": 1, "step": 1, "loss": 1.0}\n{"attempt": 1, "st')
    assert main(["tensorboard", str(tmp_path)]) == 0
    assert "attempt-00001" in capsys.readouterr().out
    assert main(["tensorboard", str(tmp_path / "none")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_its_own_reader_takes_it(tmp_path: Path) -> None:
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    journal(tmp_path / "metrics.jsonl", *({"attempt": 1, "step": s, "loss": 1 / s} for s in range(1, 5)))
    (folder,) = tensorboard(tmp_path)
    found = reader.EventAccumulator(str(folder)).Reload()
    assert [(one.step, one.value) for one in found.Scalars("loss")] == [(s, pytest.approx(1 / s)) for s in range(1, 5)]
