"""Each picture of a TIFF file becomes a file of its own with the same pixels, and nothing of untrusted bytes breaks."""

from __future__ import annotations

import io
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from obelics_pipeline.policy.image_safety.strip import Unreadable, strip_metadata
from obelics_pipeline.policy.image_safety.tiff import MOST_PIECES, pictures

SIZES = ((40, 30), (17, 61), (64, 64))
WAYS = [
    ("RGB", None), ("RGB", "tiff_lzw"), ("RGB", "tiff_adobe_deflate"), ("RGB", "jpeg"), ("RGB", "packbits"),
    ("RGBA", None), ("L", None), ("L", "tiff_deflate"), ("P", None), ("1", "group4"), ("1", "group3"), ("CMYK", None),
    ("I;16", None), ("F", None), ("LA", None),
]  # fmt: skip


def drawn(mode: str, size: tuple[int, int], seed: int) -> Image.Image:
    noise = np.random.default_rng(seed).integers(0, 255, (size[1], size[0], 3), dtype=np.uint8)
    image = Image.fromarray(noise)
    return Image.fromarray(noise[..., 0].astype(np.uint16) * 257) if mode == "I;16" else image.convert(mode)


def tiff(images: list[Image.Image], compression: str | None = None, **more: Any) -> bytes:
    out = io.BytesIO()
    images[0].save(out, "TIFF", save_all=True, append_images=images[1:], compression=compression, **more)
    return out.getvalue()


def pixels(content: bytes, frame: int = 0) -> Any:
    with Image.open(io.BytesIO(content)) as image:
        image.seek(frame)
        return np.asarray(image).copy()


FUZZED = tiff([drawn("RGB", (20, 20), 0), drawn("L", (33, 20), 1)], "tiff_lzw")


@pytest.mark.parametrize(("mode", "compression"), WAYS)
def test_each_picture_is_a_file_with_the_same_pixels(mode: str, compression: str | None) -> None:
    content = tiff([drawn(mode, size, seed) for seed, size in enumerate(SIZES)], compression)
    found = pictures(content, 9)
    assert found.ends
    assert len(found.files) == len(SIZES)
    for number, file in enumerate(found.files):
        assert file is not None
        assert (pixels(file) == pixels(content, number)).all()
        with Image.open(io.BytesIO(file)) as image, Image.open(io.BytesIO(content)) as whole:
            whole.seek(number)
            assert (image.mode, image.size, getattr(image, "n_frames", 1)) == (whole.mode, whole.size, 1)
        assert list(pictures(file, 9).files) == [file]  # nothing is left to be done
        assert strip_metadata(file, "tiff", "strip_location") == file


def test_no_more_pictures_are_cut_out_than_are_asked_for() -> None:
    content = tiff([drawn("L", SIZES[0], seed) for seed in range(4)])
    assert [len(pictures(content, most).files) for most in (0, 3, 4, 5)] == [0, 3, 4, 4]
    assert [pictures(content, most).ends for most in (3, 4)] == [False, True]


def test_metadata_stays_behind_and_a_file_that_has_some_is_not_stripped() -> None:
    exif = Image.Exif()
    exif[0x010E] = "A garden"
    exif.get_ifd(0x8825)[1] = "N"
    content = tiff([drawn("RGB", SIZES[0], 0)], exif=exif.tobytes(), dpi=(72, 72), icc_profile=b"icc" * 9)
    (file,) = pictures(content, 1).files
    assert file is not None
    assert b"A garden" in content
    assert b"A garden" not in file
    with Image.open(io.BytesIO(file)) as image:
        assert (image.info["dpi"], image.info["icc_profile"]) == ((72, 72), b"icc" * 9)
        assert not image.getexif().get_ifd(0x8825)
    for policy in ("strip_location", "strip_all_but_orientation"):
        for wrong in (content, file + b"more", tiff([drawn("L", SIZES[0], 0)] * 2), b"II*\x00", b""):
            with pytest.raises(Unreadable):
                strip_metadata(wrong, "tiff", policy)


def test_metadata_within_the_strips_of_pixels_is_seen() -> None:
    (file,) = pictures(tiff([Image.new("L", (20, 20))]), 1).files
    assert file is not None
    with pytest.raises(Unreadable):
        strip_metadata(file[:-100] + b"Exif\x00\x00" + file[-94:], "tiff", "strip_location")


def test_a_cut_file_loses_the_pictures_behind_the_cut() -> None:
    content = tiff([drawn("RGB", SIZES[0], seed) for seed in range(3)])
    found = pictures(content[: len(content) * 5 // 6], 9)
    assert not found.ends or found.files[2] is None
    assert [file is not None for file in found.files[:2]] == [True, True]


@pytest.mark.parametrize("wrong", [b"", b"II", b"II*\x00", b"PK\x03\x04" * 9, b"II+\x00\x08\x00\x00\x00" * 9])
def test_what_is_no_tiff_is_said(wrong: bytes) -> None:
    with pytest.raises(ValueError, match="no TIFF header"):
        pictures(wrong, 1)


def entries(*values: tuple[int, int, int, int]) -> bytes:
    """A directory of entries, and no further one."""
    return struct.pack("<H", len(values)) + b"".join(struct.pack("<HHII", *value) for value in values) + bytes(4)


@pytest.mark.parametrize(
    "directory",
    [
        entries(),
        entries((0x0111, 4, 1, 8)),  # no sizes
        entries((0x0111, 4, 1, 8), (0x0117, 4, 1, 2**31)),
        entries((0x0111, 4, 1, 8), (0x0117, 2, 4, 9)),  # letters
        entries((0x0111, 4, 2**32 - 1, 8), (0x0117, 4, 1, 1)),
        entries((0x0111, 4, 1, 8), (0x0117, 4, 1, 1), (0x0144, 4, 1, 8), (0x0145, 4, 1, 1)),
        entries((0x0103, 3, 1, 6), (0x0111, 4, 1, 8), (0x0117, 4, 1, 1)),  # an old JPEG
    ],
)
def test_a_directory_that_makes_no_picture_costs_its_picture(directory: bytes) -> None:
    found = pictures(b"II*\x00\x08\x00\x00\x00" + directory, 9)
    assert (list(found.files), found.ends) == ([None], True)


def test_directories_in_a_ring_and_strips_that_all_have_the_whole_file_are_no_trap() -> None:
    ring = b"II*\x00\x08\x00\x00\x00" + entries()[:-4] + struct.pack("<I", 8)
    assert len(pictures(ring, 10**5).files) <= len(ring)
    strips, start = 500, 8 + 2 + 24 + 4
    whole = start + 8 * strips
    same = struct.pack("<I", 0) * strips + struct.pack("<I", whole) * strips
    pair = (0x0111, 4, strips, start), (0x0117, 4, strips, start + 4 * strips)
    content = b"II*\x00\x08\x00\x00\x00" + entries(*pair) + same
    assert len(content) == whole
    assert list(pictures(content, 9).files) == [None]


def test_no_picture_of_too_many_strips_is_cut_out() -> None:
    strips = MOST_PIECES + 1
    start = 8 + 2 + 24 + 4
    pair = (0x0111, 4, strips, start), (0x0117, 4, strips, start)
    content = b"II*\x00\x08\x00\x00\x00" + entries(*pair) + bytes(4 * strips)
    assert list(pictures(content, 9).files) == [None]


@settings(max_examples=100)
@given(st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 255)), max_size=12), st.integers(0, 5000))
def test_whatever_bytes_are_changed_nothing_raises_and_little_is_read(changes: list[tuple[int, int]], end: int) -> None:
    data = bytearray(FUZZED)
    for at, value in changes:
        data[4 + at % (len(data) - 4)] = value  # behind the mark of a TIFF
    content = bytes(data[: max(8, end)])
    found = pictures(content, 50)
    assert sum(len(file) for file in found.files if file is not None) <= 3 * len(content)
    for file in found.files:
        assert file is None or list(pictures(file, 9).files) == [file]
