"""What is asked of the addresses of images is the same compiled and in Python."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from obelics_pipeline.stages.extract import addresses
from obelics_pipeline.stages.extract.image_metadata import filename_in_python, formatted_filename
from obelics_pipeline.stages.extract.image_source import (
    _worth,
    choose_source,
    looks_like_image,
    looks_like_image_in_python,
    worth_in_python,
)
from obelics_pipeline.stages.extract.srcset import parse_in_python, parse_srcset
from obelics_pipeline.stages.extract.urls import is_final, is_final_in_python

pytestmark = pytest.mark.skipif(not addresses.COMPILED, reason="the compiled part was not built")

PIECES = (
    "http://", "https://", "HTTP://", "www", ".", "..", "/", "//", "a", "Z", "xn--a", "-", "_", "7", "1200x800", "12x",
    "x9", "%20", "%2", "%2B", "%", "+", "?", "?v=", "?=", "#", "&", "|", "~", ":80", "@", " ", "  ", "\n", "\x1f",
    "\x0b", ".avif", ".jpg", ".JPEG", ".gif", ".GIF", ".png", ".webp", ".svg", ".jpg?w=1", "pixel", "Loading", "s",
    "data:", "Blob:", "[", "{", "javascript:", "é", "\u3000", "İ", "K", "\0",
)  # fmt: skip
pieced = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)


@given(pieced)
@example("/" + "a1x2-b_" * 200 + ".jpg")
@example("/img/placeholder-image.jpg")
@example("https://xn.example/a")
@example("https://a.xn--b.example/a")
@example("https://a.example/a/")
@example("https://a.example/a./b")
@example("https://a.example/.a")
@example("https://a.9b/a")
@example("https://a/a")
def test_an_address_is_read_alike(url: str) -> None:
    assert _worth(url) == worth_in_python(url)
    assert looks_like_image(url) == looks_like_image_in_python(url)
    assert formatted_filename(url) == filename_in_python(url)
    for absolute in (url, f"https://www.harbour.example/{url}"):
        assert is_final(absolute) == is_final_in_python(absolute)


@given(st.text("a.jpg ,12wx\n\x1f\x0b-é", max_size=80))
@example("a.jpg 9999999999999999w, b.jpg 1e3w")
@example("a.jpg 1.5x, b.jpg 2x")
@example("a.jpg,,, b.jpg 2x extra, c.jpg 2xx, d.jpg x")
@example("a.jpg 007w")
def test_candidates_are_read_alike(value: str) -> None:
    found = parse_srcset(value)
    assert found == parse_in_python(value)
    assert all(type(one) is type(other) for one, other in zip(found, parse_in_python(value), strict=True))


def test_a_candidate_has_names() -> None:
    [candidate] = parse_srcset("/pier.jpg 800w")
    assert (candidate.url, candidate.width) == ("/pier.jpg", 800.0)


def test_what_is_no_ascii_is_left_to_python() -> None:
    for ask in (addresses.compiled.worth, addresses.compiled.is_final, addresses.compiled.file_words):
        with pytest.raises(ValueError, match="expected text in ASCII"):
            ask("/café.jpg")
    assert choose_source({"src": "/café.jpg"}) is not None
