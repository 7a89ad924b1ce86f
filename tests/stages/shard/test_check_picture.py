import io
import tarfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.stages.shard import check_picture
from obelics_pipeline.stages.shard.check_picture import picture_problems
from tests.stages.rows import made

from .runs import SIZES, picture


def about(format_: str, size: tuple[int, int] = (40, 30), **values: Any) -> dict[str, Any]:
    width, height = size
    return {"format": format_, "original_width": width, "original_height": height} | values


def found(data: bytes, metadata: dict[str, Any]) -> list[str]:
    return list(picture_problems(io.BytesIO(data), metadata))


@pytest.mark.parametrize("format_", list(SIZES))
def test_a_picture_that_is_what_its_metadata_say_is_without_a_problem(format_: str) -> None:
    assert found(picture(format_), about(format_, SIZES[format_])) == []


@pytest.mark.parametrize(
    "values", [{"format": "png"}, {"format": None}, {"original_width": 1}, {"original_height": "x"}]
)
def test_another_format_or_size_than_stated_is_told(values: dict[str, Any]) -> None:
    (problem,) = found(picture("jpeg"), about("jpeg", SIZES["jpeg"]) | values)
    assert problem.startswith("is jpeg of 200 x 160, its metadata say")


def noise(format_: str, **options: Any) -> bytes:
    from PIL import Image

    out = io.BytesIO()
    Image.effect_noise((40, 30), 90).convert("RGB").save(out, format_, **options)
    return out.getvalue()


@pytest.mark.parametrize("format_", ["jpeg", "png", "webp", "gif"])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 0.9])
def test_a_cut_picture_is_told_wherever_it_was_cut(format_: str, share: float) -> None:
    data = noise(format_)
    assert found(data, about(format_)) == []
    assert "cannot be decoded" in found(data[: int(len(data) * share)], about(format_))[0]


def test_a_tiff_of_packed_pixels_is_read_out_of_its_tar(tmp_path: Path) -> None:
    data = noise("tiff", compression="tiff_lzw")
    with tarfile.open(made.tar(tmp_path / "a.tar", [("a.tiff", data), ("b.tiff", data[:100] + data[400:])])) as tar:
        whole, cut = (tar.extractfile(name) for name in ("a.tiff", "b.tiff"))
        assert whole is not None
        assert cut is not None
        assert list(picture_problems(whole, about("tiff"))) == []
        assert "cannot be decoded" in next(picture_problems(cut, about("tiff")))


def test_a_photograph_with_a_preview_behind_it_is_a_jpeg() -> None:
    from PIL import Image

    out = io.BytesIO()
    frames = [Image.new("RGB", (40, 30), colour) for colour in ("red", "blue")]
    frames[0].save(out, "MPO", save_all=True, append_images=frames[1:])
    assert Image.open(io.BytesIO(out.getvalue())).format == "MPO"
    assert found(out.getvalue(), about("jpeg")) == []


def test_formats_whose_decoders_run_other_programs_are_not_opened() -> None:
    from PIL import Image

    out = io.BytesIO()
    Image.new("RGB", (40, 30)).save(out, "EPS")
    assert "cannot be decoded: UnidentifiedImageError" in found(out.getvalue(), about("eps"))[0]


def test_of_a_picture_too_large_to_decode_the_header_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    data = noise("png")[:200]
    assert found(data, about("png"))
    monkeypatch.setattr(check_picture, "MAX_PIXELS_OTHERWISE", 40 * 30 - 1)
    assert found(data, about("png")) == []
    assert found(data, about("png", original_width=41))


@given(st.binary(max_size=300), st.sampled_from([b"", b"\xff\xd8\xff\xe0", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"II*\0"]))
def test_any_bytes_are_told_and_none_raise(data: bytes, magic: bytes) -> None:
    for problem in found(magic + data, about("jpeg")):
        assert "\n" not in problem
