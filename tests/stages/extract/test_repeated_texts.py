"""What a page says twice is kept once: the first time."""

import numpy as np
import pytest

from obelics_pipeline.stages.extract.repeated_texts import repeated_texts
from obelics_pipeline.stages.extract.tags import TEXT
from obelics_pipeline.stages.extract.tree import TAG
from tests.stages.extract.trees import tree_of

LONG = "The harbour was moved to the water when the town had outgrown the quays it was built on."
SHORT = "Not offered"


def left(html: str) -> list[str]:
    tree = tree_of(html)
    kept = tree.rows[:, TAG] == TEXT
    return [str(tree.values[row]) for row in np.flatnonzero(kept & ~repeated_texts(tree, kept)).tolist()]


@pytest.mark.parametrize("again", [f"<p>{LONG}", f"<div>{LONG}</div>", f"<blockquote>{LONG}</blockquote>"])
def test_a_long_text_is_kept_the_first_time(again: str) -> None:
    assert left(f"<p>{LONG}</p><p>Two</p>{again}<p>Three</p>{again}") == [LONG, "Two", "Three"]


def test_short_texts_may_be_said_again() -> None:
    assert left(f"<table><tr><td>{SHORT}<td>{SHORT}</table>") == [SHORT, SHORT]


def test_a_heading_right_behind_its_like_goes_and_one_further_on_stays() -> None:
    assert left("<h2>Quays</h2><h3>Quays</h3><p>Two</p><h2>Quays</h2>") == ["Quays", "Two", "Quays"]
    assert left("<p>Quays</p><p>Quays</p>") == ["Quays", "Quays"]


def test_code_may_say_the_same_twice() -> None:
    assert left(f"<pre>{LONG}</pre><p>Two</p><pre>{LONG}</pre>") == [LONG, "Two", LONG]


def test_a_text_that_is_left_out_does_not_stand_for_one_that_is_kept() -> None:
    tree = tree_of(f"<p>{LONG}</p><p>{LONG}</p>")
    rows = np.flatnonzero(tree.rows[:, TAG] == TEXT)
    kept = np.zeros(len(tree.rows), np.bool_)
    kept[rows[1]] = True
    assert not repeated_texts(tree, kept).any()
