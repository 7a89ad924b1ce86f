"""Pictures are drawn from their URL alone, in the format and the size that it names."""

from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from obelics_pipeline.demo.pictures import SCENE_OF, draw, plan
from obelics_pipeline.demo.scenes import SCENES


def opened(url: str) -> Image.Image:
    drawn = draw(url)
    assert drawn is not None
    image = Image.open(BytesIO(drawn[0]))
    image.load()
    return image


@pytest.mark.parametrize(
    ("url", "format_", "size"),
    [
        ("http://a.example/tree-640x480.jpg", "JPEG", (640, 480)),
        ("http://a.example/tree-480x640.png", "PNG", (480, 640)),
        ("http://a.example/tree-300x200.webp", "WEBP", (300, 200)),
        ("http://a.example/site-logo.png", "PNG", (64, 64)),
        ("http://a.example/top-banner.gif", "GIF", (728, 90)),
        ("http://a.example/pixel.gif?site=1", "GIF", (1, 1)),
    ],
)
def test_the_name_says_format_and_size(url: str, format_: str, size: tuple[int, int]) -> None:
    image = opened(url)
    assert (image.format, image.size) == (format_, size)


@pytest.mark.parametrize("scene", sorted(SCENES))
def test_every_scene_draws_the_same_bytes_again(scene: str) -> None:
    word = next(w for w, s in SCENE_OF.items() if s == scene)
    url = f"http://a.example/{word}-160x120.jpg"
    wanted = plan(url)
    assert wanted is not None
    assert wanted.scene == scene
    assert draw(url) == draw(url)
    assert draw(url) != draw(url.replace("a.example", "b.example"))


def test_a_query_or_a_width_asks_for_the_same_scene_at_another_width() -> None:
    small, large = plan("http://a.example/hill-320w.jpg"), plan("http://a.example/hill-960w.jpg")
    assert small is not None
    assert large is not None
    assert small.seed == large.seed
    assert (small.size[0], large.size[0]) == (320, 960)
    assert opened("http://a.example/hill.jpg?w=400").width == 400


def test_an_animated_picture_has_frames_that_differ() -> None:
    image = opened("http://a.example/moving-animated.gif")
    assert getattr(image, "n_frames", 1) == 3


def test_what_does_not_end_like_an_image_is_none() -> None:
    assert draw("http://a.example/page.html") is None
    assert draw("http://a.example/jpg") is None


@settings(max_examples=25)
@given(st.text(alphabet="abcdefgh-_%0123456789", min_size=1, max_size=12), st.sampled_from(["jpg", "png", "gif"]))
def test_any_name_gives_a_picture(name: str, ending: str) -> None:
    wanted = plan(f"http://a.example/{name}.{ending}?w=40")
    assert wanted is not None
    assert min(wanted.size) >= 1
