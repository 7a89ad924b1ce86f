import pytest

from obelics_pipeline.stages.extract.image_metadata import formatted_filename, rendered_size
from obelics_pipeline.stages.extract.obelics_images import is_valid


@pytest.mark.parametrize(
    "url", ["https://e.org", "ftp://e.org/f", "http://a-b.e.org./x?y", "https://1.2.3.45/x", "HTTP://E.ORG"]
)
def test_urls_the_reference_takes(url: str) -> None:
    assert is_valid(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://e.org:80/x", "https://u@e.org/", "https://localhost/x", "https://e_x.org/", "https://1.2.3.4/x",
        "//e.org", "https://-a.org/", "https://e.org/a b", "https://" + "a" * 64 + ".org/",
        "https://e.org/" + "x" * 5_000, "",
        "https://" + "a." * 30_000 + "!",
    ],
)  # fmt: skip
def test_urls_the_reference_refuses(url: str) -> None:
    assert not is_valid(url)


def test_sizes_and_names_never_raise_on_hostile_values() -> None:
    assert rendered_size("9" * 5_000) is None
    assert rendered_size("9" * 30 + "px") is None
    assert rendered_size("1e999.") is None
    assert rendered_size("nan.") is None
    assert rendered_size("-1") == -1
    assert formatted_filename("https://e.org/%E3%81%82.jpg") is None  # an E alone
