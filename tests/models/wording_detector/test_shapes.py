"""Words that do not agree with those beside them are told, by their shapes."""

from dataclasses import replace

import numpy as np
import pytest

from obelics_pipeline.models.wording_detector.shapes import of_shapes, parts_compiled, parts_in_numpy, wrong_shapes
from obelics_pipeline.models.wording_detector.shares import COMPILED
from tests.models.coherence_detector.texts import hard_texts
from tests.models.wording_detector.small import PLAIN, WRONG, phrasing, read


def measured(text: str) -> dict[str, float]:
    return dict(of_shapes(phrasing().shapes, read(phrasing(), text)))


@pytest.mark.skipif(not COMPILED, reason="the compiled counts were not built")
def test_compiled_they_are_read_and_counted_as_by_python() -> None:
    shapes = phrasing().shapes
    for text in (*hard_texts(), PLAIN, WRONG, WRONG.upper(), "", "the", "the boat", "Σas ungs 2.5 ²nd"):
        tokens = read(phrasing(), text)
        shape = shapes.read_compiled(tokens)
        assert shape.tolist() == shapes.read_in_python(tokens).tolist(), text[:80]
        assert list(parts_compiled(shapes, shape)) == parts_in_numpy(shapes, shape), text[:80]


def test_words_that_do_not_agree_with_their_neighbours_are_told() -> None:
    assert measured(WRONG)["agree_1"] < measured(PLAIN)["agree_1"]
    assert measured(WRONG)["agree_three_under_0"] > measured(PLAIN)["agree_three_under_0"]


def test_words_beside_each_other_are_named_where_they_do_not_agree() -> None:
    shapes, tokens = phrasing().shapes, read(phrasing(), "the boat of the man . the harbour")
    agree = np.zeros_like(shapes.agree)
    of, the, stop = (tokens.number[tokens.lower.index(word)] for word in ("of", "the", "."))
    agree[0, the], agree[0, of, the], agree[0, stop, the] = -16, -48, -48
    (wrong,) = wrong_shapes(replace(shapes, agree=agree), tokens)  # a mark is no word, and the third is not enough
    assert (wrong.first, wrong.last, wrong.log_odds) == (2, 3, 3.0)
