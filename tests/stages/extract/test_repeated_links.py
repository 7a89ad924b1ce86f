"""A text that is only a link and stands three times says nothing about the page; names that are links stay."""

import numpy as np
import pytest

from obelics_pipeline.stages.extract.repeated_links import repeated_links
from obelics_pipeline.stages.extract.tags import TEXT
from obelics_pipeline.stages.extract.tree import TAG
from tests.stages.extract.trees import tree_of

MORE = "<p><a href=/{}>See the price</a></p>"


def left(body: str, kept: bool = True) -> list[str]:
    tree = tree_of(f"<body>{body}</body>")
    gone = repeated_links(tree, np.full(len(tree.rows), kept))
    return [str(tree.values[row]) for row in np.flatnonzero((tree.rows[:, TAG] == TEXT) & ~gone)]


def test_a_link_that_stands_three_times_goes() -> None:
    body = "<p>One.</p>" + MORE.format(1) + "<p>Two.</p>" + MORE.format(2) + "<p>Three.</p>"
    assert left(body) == ["One.", "See the price", "Two.", "See the price", "Three."]
    assert left(body + MORE.format(3)) == ["One.", "Two.", "Three."]


@pytest.mark.parametrize(
    "again",
    [
        "<p>See <a href=/1>the price</a></p>",
        "<p>See the price</p>",
        "<h2><a href=/1>See the price</a></h2>",
        "<ul><li><a href=/1>See the price</a></li></ul>",
        "<table><tr><td><a href=/1>See the price</a></td></tr></table>",
    ],
)
def test_what_is_more_than_a_link_alone_stays(again: str) -> None:
    assert left(again * 3) == ["See the price"] * 3


def test_only_what_is_kept_is_counted() -> None:
    assert left(MORE * 3, kept=False) == ["See the price"] * 3


def test_an_empty_page_has_none() -> None:
    assert left("") == []
