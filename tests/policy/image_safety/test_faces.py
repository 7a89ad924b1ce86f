"""What a function calls a face is blurred, or its image is dropped; where it finds none, not a byte changes."""

import io
from typing import Any

import numpy as np
import pytest
from PIL import Image

from obelics_pipeline.models.pictures.decoding import decodable
from obelics_pipeline.policy.image_safety.faces import Drop, without_faces
from tests.policy.image_safety import hooks, photos


def with_face(orientation: int | None = None, format_: str = "JPEG") -> bytes:
    image = Image.new("RGB", (200, 120), "white")
    checked = np.indices((30, 30)).sum(axis=0) % 2 * 255
    image.paste(Image.new("RGB", (40, 40), (230, 20, 20)), (20, 30))
    image.paste(Image.fromarray(checked.astype(np.uint8)), (25, 35))
    options: dict[str, Any] = {} if orientation is None else {"exif": photos.exif(orientation=orientation)}
    return photos.saved(
        format_, image, icc_profile=b"profile", **({"quality": 95} if format_ == "JPEG" else {}), **options
    )


def pixels(content: bytes) -> Any:
    return np.asarray(Image.open(io.BytesIO(content)).convert("RGB")).astype(int)


@pytest.mark.parametrize("format_", ["JPEG", "PNG", "WEBP"])
def test_a_box_is_blurred_and_the_rest_stays(format_: str) -> None:
    content = with_face(format_=format_)
    found = without_faces(content, format_.lower(), hooks.red_faces, decodable())
    before, after = pixels(content), pixels(found)
    assert Image.open(io.BytesIO(found)).format == format_
    assert before[40:60, 30:50].std(axis=(0, 1)).min() > 50
    assert after[40:60, 30:50].std(axis=(0, 1)).max() < 25
    assert abs(after[:, 80:] - before[:, 80:]).max() < 12
    assert Image.open(io.BytesIO(found)).info["icc_profile"] == b"profile"


def test_boxes_are_of_the_upright_picture() -> None:
    found = without_faces(with_face(orientation=6), "jpeg", hooks.red_faces, decodable())
    assert Image.open(io.BytesIO(found)).size == (120, 200)
    assert 0x0112 not in Image.open(io.BytesIO(found)).getexif()
    assert b"GARDEN" not in found


def test_where_there_is_none_nothing_changes_and_true_drops() -> None:
    plain = photos.saved("PNG", Image.new("RGB", (50, 50), "blue"))
    assert without_faces(plain, "png", hooks.red_faces, decodable()) is plain
    with pytest.raises(Drop):
        without_faces(photos.saved("PNG", Image.new("RGB", (50, 50), "red")), "png", hooks.red_faces, decodable())
