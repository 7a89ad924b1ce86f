"""The process that decodes measures every kind of picture, and a hostile one costs itself alone."""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from obelics_pipeline.core.config import ImageSafetyConfig, RunConfig
from obelics_pipeline.core.config.fetching import FetchingConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.net.failure import FetchError
from obelics_pipeline.stages.fetch import value
from obelics_pipeline.stages.fetch.decoder import check_apart
from obelics_pipeline.stages.fetch.image_store import ImageStore
from obelics_pipeline.stages.fetch.ingest import Ingest
from obelics_pipeline.stages.fetch.quality import qr_codes
from tests.stages.fetch.quality.drawn import photograph

CONFIG = FetchingConfig(max_pixels=2_000_000)
MEASURES = ("one_colour", "sharpness", "text_share")


def saved(picture: Image.Image, form: str, **options: object) -> bytes:
    file = io.BytesIO()
    picture.save(file, form, **options)
    return file.getvalue()


def measured(content: bytes) -> dict[str, float]:
    return dict(check_apart(content, CONFIG, MEASURES).quality or {})


def test_a_picture_is_measured_where_it_is_decoded() -> None:
    found = measured(saved(photograph(), "PNG"))
    assert list(found) == list(MEASURES) and found["sharpness"] > 1000


def test_nothing_is_measured_unasked() -> None:
    assert check_apart(saved(photograph(), "PNG"), CONFIG).quality is None


@pytest.mark.parametrize(
    ("picture", "form"),
    [
        (photograph().quantize(32), "GIF"),
        (photograph().convert("RGBA").quantize(32), "PNG"),
        (photograph().convert("CMYK"), "JPEG"),
        (photograph().convert("LA"), "PNG"),
        (photograph().convert("1"), "TIFF"),
        (Image.fromarray(np.asarray(photograph().convert("L")).astype(np.uint16) * 257), "PNG"),
    ],
    ids=["palette", "palette of alpha", "cmyk", "grey and alpha", "two levels", "16 bits"],
)
def test_every_kind_of_picture_is_measured(picture: Image.Image, form: str) -> None:
    found = measured(saved(picture, form))
    assert found["sharpness"] > 500 and found["one_colour"] < 0.7


@pytest.mark.parametrize("size", [(1, 100_000), (100_000, 1), (1, 1)])
def test_a_picture_without_an_inside_is_kept_with_what_applies_to_it(size: tuple[int, int]) -> None:
    assert measured(saved(Image.new("RGB", size), "PNG")) == {"one_colour": 1.0}


def test_an_animation_and_a_cut_picture_are_refused_as_without_measures() -> None:
    frames = [photograph(seed, 64, 64) for seed in range(3)]
    for content in (
        saved(frames[0], "GIF", save_all=True, append_images=frames[1:]),
        saved(photograph(), "PNG")[:5000],
    ):
        reasons = []
        for measures in ((), MEASURES):
            with pytest.raises(FetchError) as error:
                check_apart(content, CONFIG, measures)
            reasons.append(error.value.reason)
        assert reasons[0] == reasons[1]


def test_what_is_stored_is_what_is_measured(tmp_path: Path) -> None:
    config = FetchingConfig(reencode="jpeg", reencode_quality=30, reencode_size=128)
    store = ImageStore(tmp_path)
    ingest = Ingest(config, ImageSafetyConfig(), store, measures=MEASURES)
    result = ingest.keep(saved(photograph(), "PNG"), [], "")
    assert result.sha256 is not None and result.width == 128
    assert result.quality == measured(store.read(result.sha256))
    assert ingest.keep_again(result).quality == result.quality


def test_a_run_without_the_reader_of_codes_stops_before_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qr_codes, "find_spec", lambda name: None)
    with pytest.raises(UserError, match="zxing-cpp"):
        value.check(RunConfig.model_validate({"images": {"quality": {"qr_share": {"max": 0.1}}}}))
    assert value.check(RunConfig.model_validate({"images": {"quality": {"sharpness": {}}}})) == []
