import numpy as np
import pytest

from obelics_pipeline.stages.extract.image_candidates import image_candidates
from obelics_pipeline.stages.extract.image_roles import set_roles
from tests.stages.extract.trees import row_of, tree_of


def roles(html: str, dropped: str = "") -> list[tuple[str | None, int | None]]:
    tree = tree_of(html)
    kept = np.ones(len(tree.rows), np.bool_)
    if dropped:
        kept[row_of(tree, dropped)] = False
    pictures = image_candidates(tree, "https://e.org/", None, kept)
    set_roles(tree, kept, pictures)
    return [(picture.image.role, picture.image.position) for picture in pictures]


def text(characters: int) -> str:
    return f"<p>{'x' * characters}</p>"


A, B, C, D = (f"<img src=/{name}.jpg>" for name in "abcd")


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (A, [("lead", 0)]),
        (text(300) + A, [("lead", 300)]),
        (text(301) + A, [("inline", 301)]),
        (A + B, [("lead", 0), ("inline", 0)]),
        (A + text(80) + B + text(80) + C, [("gallery", 0), ("gallery", 80), ("gallery", 160)]),
        (A + text(81) + B + text(80) + C, [("lead", 0), ("inline", 81), ("inline", 161)]),
        (A + text(400) + B + C + D, [("lead", 0), *[("gallery", 400)] * 3]),
        (text(9), []),
    ],
)
def test_roles(html: str, expected: list[tuple[str, int]]) -> None:
    assert roles(html) == expected


def test_a_position_counts_what_is_kept_without_white_space() -> None:
    assert roles(f"<p>a b  c</p><p>dropped</p>{A}", "dropped") == [("lead", 3)]


def test_captions_in_figures_do_not_part_a_gallery() -> None:
    figures = "".join(f"<figure>{picture}<figcaption>{'x' * 150}</figcaption></figure>" for picture in (A, B, C))
    assert roles(figures) == [("gallery", 0), ("gallery", 150), ("gallery", 300)]
