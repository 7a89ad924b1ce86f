"""A file of lines is read whatever it is called, however it is packed and cut, and never held as a whole."""

import gzip

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.policy.lists import lines
from obelics_pipeline.policy.lists.lines import read_lines

PACKINGS = {
    "plain": lambda data: data,
    "gzip": lambda data: gzip.compress(data, mtime=0),
    "zstd": zstandard.compress,
    "members of gzip": lambda data: gzip.compress(data[:3]) + gzip.compress(data[3:]),
    "frames of zstd": lambda data: zstandard.compress(data[:3]) + zstandard.compress(data[3:]),
    "a frame to skip": lambda data: b"\x50\x2a\x4d\x18\4\0\0\0abcd" + zstandard.compress(data),
}


def cut(data: bytes, size: int) -> list[bytes]:
    """The first piece has the marks that say how a file is packed, as one from a disk has."""
    return [data[:4], *(data[i : i + size] for i in range(4, len(data), size))]


@given(st.lists(st.binary(max_size=12).filter(lambda line: b"\n" not in line), min_size=1), st.integers(1, 9))
@pytest.mark.parametrize("packing", PACKINGS)
def test_lines_are_those_of_the_content_however_it_is_packed_and_cut(
    packing: str, written: list[bytes], size: int
) -> None:
    data = b"\xef\xbb\xbf" + b"\n".join(written)
    found = list(read_lines(cut(PACKINGS[packing](data), size), "a list", 10_000, 8))
    wanted = [None if len(line) > 8 else line for line in written]
    wanted[0] = None if len(written[0]) > 5 else written[0]  # the mark at the beginning counts
    while wanted and wanted[-1] == b"" and len(wanted) > len(found):
        wanted.pop()
    assert found == wanted


@pytest.mark.parametrize("pack", [lambda data: gzip.compress(data, mtime=0), zstandard.compress])
def test_a_bomb_is_refused_before_it_is_held(pack: object, monkeypatch: pytest.MonkeyPatch) -> None:
    packed, most = pack(b"\0" * 500_000_000), 0  # type: ignore[operator]
    unpacked = lines._unpacked

    def watched(pieces: object) -> object:
        nonlocal most
        for piece in unpacked(pieces):  # type: ignore[arg-type]
            most = max(most, len(piece))
            yield piece

    monkeypatch.setattr(lines, "_unpacked", watched)
    with pytest.raises(UserError, match=r"^a list: has more than 1,000,000 bytes, unpacked; is it the right file\?$"):
        list(read_lines([packed], "a list", 1_000_000, 100))
    assert most <= 40_000_000


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_what_is_cut_or_changed_is_told(pack: object) -> None:
    packed = pack(bytes(range(11, 250)) * 40)  # type: ignore[operator]
    for damaged in (packed[:-20], packed + b"more"):
        with pytest.raises(UserError, match=r"^a list: is damaged "):
            list(read_lines([damaged], "a list", 1_000_000, 100))


def test_what_cannot_be_read_is_told() -> None:
    def pieces() -> object:
        yield b"one\n"
        raise PermissionError(13, "Permission denied")

    with pytest.raises(UserError, match=r"^a list: cannot be read \(Permission denied\)$"):
        list(read_lines(pieces(), "a list", 1_000_000, 100))  # type: ignore[arg-type]
