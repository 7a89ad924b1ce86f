"""The header first, then every byte: what is not a whole image of bearable size has its reason."""

import gc
import io
import struct
import zlib
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, features

from obelics_pipeline.core.config.fetching import FetchingConfig
from obelics_pipeline.core.config.sharding import ImageFormat
from obelics_pipeline.models.pictures.decoding import FORMATS as DECODED
from obelics_pipeline.net.failure import FetchError
from obelics_pipeline.stages.fetch.image_check import ImageFacts, check_image
from tests.stages.fetch.site import picture

CONFIG = FetchingConfig(max_pixels=1_000_000)


def reason_of(content: bytes, config: FetchingConfig = CONFIG) -> str | None:
    try:
        check_image(content, config)
    except FetchError as error:
        return error.reason
    return None


def noise(format: str, size: tuple[int, int] = (200, 150), **options: object) -> bytes:
    file = io.BytesIO()
    Image.effect_noise(size, 80).convert("RGB").save(file, format, **options)
    return file.getvalue()


def animation(format: str, frames: int) -> bytes:
    file = io.BytesIO()
    images = [Image.new("RGB", (20, 20), (n * 20, 0, 0)) for n in range(frames)]
    images[0].save(file, format, save_all=True, append_images=images[1:])
    return file.getvalue()


def png_header(width: int, height: int) -> bytes:
    """A PNG of which nothing but the headers is there: no decoder is needed to refuse it."""
    chunk = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    header = struct.pack(">I", 13) + chunk + struct.pack(">I", zlib.crc32(chunk))
    return b"\x89PNG\r\n\x1a\n" + header + struct.pack(">I", 1000) + b"IDAT"


FORMATS = ["jpeg", "png", "webp", "gif", "bmp", "tiff", *(["avif"] if features.check("avif") else [])]


@pytest.mark.parametrize("format", FORMATS)
def test_a_whole_image_is_what_it_is(format: str) -> None:
    assert check_image(picture(format, (40, 30)), CONFIG) == ImageFacts(format, 40, 30)


@pytest.mark.parametrize("options", [{"progressive": True}, {"quality": 10}])
def test_jpegs_of_all_kinds_are_whole(options: dict[str, int]) -> None:
    assert check_image(noise("jpeg", (1, 1), **options), CONFIG).format == "jpeg"
    assert check_image(noise("jpeg", (333, 7), **options), CONFIG) == ImageFacts("jpeg", 333, 7)


@pytest.mark.parametrize("mode", ["L", "CMYK"])
def test_modes_do_not_matter(mode: str) -> None:
    file = io.BytesIO()
    Image.new(mode, (9, 8)).save(file, "JPEG")
    assert reason_of(file.getvalue()) is None


def test_an_orientation_is_not_applied() -> None:
    exif = Image.Exif()
    exif[274] = 6
    assert check_image(picture("jpeg", (40, 30), exif=exif), CONFIG) == ImageFacts("jpeg", 40, 30)


def test_a_photograph_with_a_preview_behind_it_is_a_jpeg() -> None:
    file = io.BytesIO()
    images = [Image.new("RGB", (20, 20)), Image.new("RGB", (10, 10))]
    images[0].save(file, "MPO", save_all=True, append_images=images[1:])
    assert check_image(file.getvalue(), CONFIG) == ImageFacts("jpeg", 20, 20)


@pytest.mark.parametrize("format", ["jpeg", "png", "webp", "gif", *(["avif"] if features.check("avif") else [])])
@pytest.mark.parametrize("share", [0.3, 0.6, 0.95])
def test_a_cut_image_is_truncated(format: str, share: float) -> None:
    content = noise(format)
    assert reason_of(content[: int(len(content) * share)]) in ("truncated_image", "corrupt_image")


def test_the_usual_formats_are_told_to_be_truncated() -> None:
    for content in (noise("jpeg"), noise("jpeg", progressive=True), noise("png"), noise("webp")):
        assert reason_of(content[: len(content) // 2]) == "truncated_image"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty_body"),
        (b"<!DOCTYPE html><html>", "html"),
        (b"\n<HTML lang=en>", "html"),
        (b"\xef\xbb\xbf <!-- x --><!-- y --><html>", "html"),
        (b'<?xml version="1.0"?><!DOCTYPE html PUBLIC "x"><html>', "html"),
        (b'<svg xmlns="http://www.w3.org/2000/svg"/>', "svg"),
        (b'<?xml version="1.0"?>\n<!-- made by hand -->\n<svg:svg>', "svg"),
        (b"<!DOCTYPE svg PUBLIC><svg>", "svg"),
        (b"<rss>", "not_an_image"),
        (b"404 not found", "not_an_image"),
        (b"\x00" * 300, "not_an_image"),
        (b"<", "not_an_image"),
        (b"<!--" * 600, "not_an_image"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n(%pipe%id) (r) file", "unsupported_format"),
        (b"8BPS\x00\x01", "unsupported_format"),
        (b"\x00\x00\x01\x00\x01\x00", "unsupported_format"),
        (b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic", "unsupported_format"),
        (b"\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isom", "unsupported_format"),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF" + b"x" * 50, "corrupt_image"),
        (b"GIF89a", "corrupt_image"),
        (b"RIFF\x10\x00\x00\x00WEBPVP8 xxxxxxxx", "corrupt_image"),
    ],
)
def test_what_is_no_image_says_what_it_is(content: bytes, reason: str) -> None:
    assert reason_of(content) == reason


def test_pixels_are_counted_from_the_header_and_nothing_is_decoded() -> None:
    assert reason_of(png_header(1000, 1001)) == "too_many_pixels"
    assert reason_of(png_header(60_000, 60_000)) == "too_many_pixels"  # Pillow's own guard
    assert reason_of(png_header(1000, 1000)) == "truncated_image"


def test_formats_whose_decoders_need_more_memory_have_fewer_pixels() -> None:
    size = (1000, 700)
    assert reason_of(picture("png", size)) is None
    assert reason_of(picture("webp", size)) == "too_many_pixels"
    assert reason_of(picture("webp", (1000, 400))) is None
    assert reason_of(picture("tiff", (1000, 701))) == "too_many_pixels"
    assert reason_of(picture("tiff", size)) is None


def test_a_progressive_jpeg_in_four_colours_has_fewer_pixels() -> None:
    def printed(**options: bool) -> bytes:
        file = io.BytesIO()
        Image.new("CMYK", (1000, 701)).save(file, "JPEG", **options)
        return file.getvalue()

    assert reason_of(printed(progressive=True)) == "too_many_pixels"
    assert reason_of(printed()) is None


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("damage", ["none", "cut", "half", "struck"])
def test_no_picture_outlives_its_check(format: str, damage: str) -> None:
    """Not even until the garbage collector comes: a picture may be hundreds of megabytes."""
    whole = noise(format)
    struck = whole[:40] + b"\xff" * 20 + whole[60:]
    content = {"none": whole, "cut": whole[:-30], "half": whole[: len(whole) // 2], "struck": struck}[damage]
    reason_of(picture(format))  # what is imported and set up once
    gc.collect()
    gc.disable()
    try:
        before = sum(isinstance(one, Image.Image) for one in gc.get_objects())
        reason_of(content)
        assert sum(isinstance(one, Image.Image) for one in gc.get_objects()) == before
    finally:
        gc.enable()


@pytest.mark.parametrize("format", ["gif", "webp", "png"])
def test_frames_are_counted(format: str) -> None:
    assert reason_of(animation(format, 3)) == "too_many_frames"
    assert reason_of(animation(format, 3), FetchingConfig(max_frames=2)) == "too_many_frames"
    assert reason_of(animation(format, 3), FetchingConfig(max_frames=3)) is None


def test_the_guard_of_the_image_library_stays_as_it_is() -> None:
    before = Image.MAX_IMAGE_PIXELS
    reason_of(png_header(60_000, 60_000))
    reason_of(picture())
    assert before is not None
    assert before == Image.MAX_IMAGE_PIXELS


WHOLE = [picture(format, (16, 16)) for format in FORMATS] + [animation("gif", 2)]


@given(
    st.sampled_from(WHOLE),
    st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 255)), max_size=8),
    st.integers(0, 3000),
)
def test_broken_bytes_are_an_image_or_have_a_reason(content: bytes, flips: list[tuple[int, int]], length: int) -> None:
    broken = bytearray(content[:length] if length < len(content) else content)
    for place, value in flips:
        if broken:
            broken[place % len(broken)] = value
    assert reason_of(bytes(broken)) in {
        None, "empty_body", "not_an_image", "unsupported_format", "truncated_image", "corrupt_image", "too_many_pixels",
        "too_many_frames", "html", "svg",
    }  # fmt: skip


def test_the_formats_that_a_config_can_ask_for_are_those_that_are_decoded() -> None:
    assert get_args(ImageFormat) == tuple(name.lower() for name in DECODED)
