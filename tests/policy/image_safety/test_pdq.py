"""PDQ hashes are near for copies of a picture and far for others, and are those of the reference's own code."""

import io

import numpy as np
import pytest
from PIL import Image, ImageEnhance

from obelics_pipeline.models.pictures.decoding import decodable
from obelics_pipeline.policy.image_safety.pdq import pdq_of
from obelics_pipeline.policy.image_safety.search import Near
from tests.policy.image_safety import photos

pdqhash = pytest.importorskip("pdqhash")


def busy(seed: int, size: tuple[int, int] = (900, 700)) -> Image.Image:
    draw = np.random.default_rng(seed)
    small = draw.integers(0, 256, (24, 24, 3), dtype=np.uint8)
    noise = draw.integers(0, 30, (size[1], size[0], 3))
    image = np.asarray(Image.fromarray(small).resize(size, Image.Resampling.BICUBIC)).astype(int) + noise
    return Image.fromarray(np.clip(image, 0, 255).astype(np.uint8))


def distance(a: bytes, b: bytes) -> int:
    return (int.from_bytes(a, "big") ^ int.from_bytes(b, "big")).bit_count()


def hashed(content: bytes) -> bytes:
    [found] = pdq_of(content, decodable())
    assert found.quality >= 80
    return found.value


def reference(image: Image.Image) -> bytes:
    """The hash as the reference's program makes it (pdqio.cpp): of pixels picked out to a square of 512, if larger."""
    pixels = np.asarray(image)
    if max(image.size) > 512:
        rows, columns = (np.arange(512) * side // 512 for side in pixels.shape[:2])
        pixels = np.ascontiguousarray(pixels[rows][:, columns])
    vector, _ = pdqhash.compute(pixels)
    return np.packbits(vector.astype(bool)).tobytes()


@pytest.mark.parametrize("size", [(400, 300), (512, 512), (600, 300), (900, 700), (2400, 1600)])
def test_hashes_are_within_the_ten_bits_of_the_reference_that_its_authors_allow(size: tuple[int, int]) -> None:
    for seed in range(3):
        image = busy(seed, size)
        assert distance(hashed(photos.saved("PNG", image)), reference(image)) <= 10
        assert distance(hashed(photos.saved("JPEG", image, quality=95)), reference(image)) <= 10


@pytest.mark.slow
def test_copies_are_near_and_others_far() -> None:
    of = {seed: hashed(photos.saved("PNG", busy(seed))) for seed in range(6)}
    for seed, value in of.items():
        image = busy(seed)
        copies = [
            photos.saved("JPEG", image, quality=30),
            photos.saved("WEBP", image.resize((300, 233)), quality=60),
            photos.saved("PNG", ImageEnhance.Brightness(image).enhance(1.15)),
            photos.saved("PNG", image.convert("RGBA")),
            photos.saved("PNG", image.quantize(64)),
            photos.saved("JPEG", image.convert("CMYK")),
        ]
        assert max(distance(hashed(copy), value) for copy in copies) <= 31
        assert min(distance(value, other) for s, other in of.items() if s != seed) > 80


def test_turned_pictures_are_found_by_their_turned_hashes() -> None:
    image = busy(1)
    listed = hashed(photos.saved("PNG", image))
    for turn in (Image.Transpose.ROTATE_90, Image.Transpose.FLIP_LEFT_RIGHT, Image.Transpose.TRANSVERSE):
        content = photos.saved("PNG", image.transpose(turn))
        assert distance(hashed(content), listed) > 80
        found = pdq_of(content, decodable(), turned=True)
        assert len(found) == 8
        assert min(distance(of.value, listed) for of in found) <= 31


def test_a_picture_with_nothing_on_it_has_no_quality() -> None:
    for size in ((1, 1), (3, 900), (500, 500)):
        [found] = pdq_of(photos.saved("PNG", Image.new("RGB", size, "red")), decodable())
        assert found.quality == 0
    grey = Image.fromarray((np.arange(65536).reshape(256, 256)).astype(np.uint16))
    assert len(pdq_of(photos.saved("PNG", grey), decodable())[0].value) == 32


def test_what_is_no_picture_raises() -> None:
    with pytest.raises(Exception):  # noqa: B017, PT011 - whatever the decoder raises
        pdq_of(io.BytesIO(b"nothing").getvalue(), decodable())


@pytest.mark.slow
def test_precision_and_recall_over_planted_copies_and_near_misses() -> None:
    """60 listed pictures in six copies each, and 1,000 others, of which 200 are half of a listed one."""
    listed = {seed: busy(seed, (400, 300)) for seed in range(60)}
    of = Near(Near.files(b"".join(hashed(photos.saved("PNG", i)) for i in listed.values()), np.zeros(60, np.uint16)))
    found = 0
    for image in listed.values():
        copies = [
            photos.saved("JPEG", image, quality=30),
            photos.saved("WEBP", image.resize((200, 150)), quality=60),
            photos.saved("PNG", ImageEnhance.Brightness(image).enhance(1.15)),
            photos.saved("PNG", ImageEnhance.Contrast(image).enhance(0.8)),
            photos.saved("PNG", image.convert("L")),
            photos.saved("GIF", image.quantize(64)),
        ]
        found += sum(of.find(hashed(copy), 31) is not None for copy in copies)
    wrong = 0
    for seed in range(1000, 2000):
        other = busy(seed, (400, 300))
        if seed % 5 == 0:
            other.paste(listed[seed % 60].crop((0, 0, 200, 300)), (0, 0))
        wrong += of.find(hashed(photos.saved("PNG", other)), 31) is not None
    print(f"{found} of 360 copies, {wrong} of 1,000 others")
    assert found >= 355 and wrong == 0
