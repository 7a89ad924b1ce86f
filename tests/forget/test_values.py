"""Sets of byte strings in files: what is in one is known, whatever zeros it ends with, and nothing else is."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from obelics_pipeline.core.errors import Damaged
from obelics_pipeline.forget.values import (
    KEYS,
    among,
    as_bytes,
    as_column,
    ids_in,
    keys_in,
    minus,
    packed,
    read_values,
    unpacked,
    write_values,
)

ZEROS = [bytes(16), b"\1" + bytes(15), b"\1" * 8 + bytes(8), b"\0" * 15 + b"\1"]


def test_keys_with_zeros_at_their_ends_come_back(tmp_path: Path) -> None:
    keys = np.unique(np.array(ZEROS, KEYS))
    there = read_values(write_values(tmp_path, "set", keys))
    assert among(np.array(ZEROS, KEYS), there).tolist() == [True] * 4
    assert sorted(as_bytes(there)[i : i + 16] for i in range(0, 64, 16)) == sorted(ZEROS)
    assert sorted(as_column(there).to_pylist()) == sorted(ZEROS)
    assert keys_in(as_column(there).cast(pa.binary())).tolist() == there.tolist()


def test_ids_are_told_from_those_that_begin_alike(tmp_path: Path) -> None:
    known = np.unique(np.array([b"a" * 31, b"b" * 32]))
    asked = np.array([b"a" * 31, b"a" * 32, b"b" * 32, b"b" * 33, b"c"])
    assert among(asked, known).tolist() == [True, False, True, False, False]
    assert minus(np.unique(asked), known).tolist() == [b"a" * 32, b"b" * 33, b"c"]
    assert among(asked, known[:0]).tolist() == [False] * 5
    assert ids_in(pa.chunked_array([["é", "z"]])).tolist() == ["é".encode(), b"z"]


def test_an_id_is_packed_and_unpacked_and_one_of_other_digits_is_left_out() -> None:
    ids = np.array([b"0" * 32, b"ab" * 16, b"AB" * 16, b"somebody's own", b"ab" * 15])
    assert unpacked(packed(ids)).tolist() == [b"0" * 32, b"ab" * 16]


def test_a_large_set_is_mapped_and_a_damaged_one_is_refused(tmp_path: Path) -> None:
    place = write_values(tmp_path, "set", np.array([f"{n:032x}".encode() for n in range(1000)]))
    assert isinstance(place, Path)
    found = read_values(place)
    assert isinstance(found, np.memmap)
    assert among(np.array([b"%032x" % 999, b"%032x" % 1000]), found).tolist() == [True, False]
    other = tmp_path / "other.npy"
    other.write_bytes(place.read_bytes()[:50])
    with pytest.raises(Damaged):
        read_values(other)
