"""A detector's score, by habits of each kind."""

from collections.abc import Callable

import pytest

from obelics_pipeline.models.wording_detector.detector import WordingDetector
from tests.models.wording_detector.small import PLAIN, WRONG, detector, phrasing_detector

pytestmark = pytest.mark.parametrize("make", [detector, phrasing_detector])


def test_exchanged_words_raise_the_score(make: Callable[[], WordingDetector]) -> None:
    assert make().score(PLAIN) == 0.268941  # log odds of -1
    assert make().score(WRONG) == 0.731059


def test_a_text_of_too_few_words_has_no_score(make: Callable[[], WordingDetector]) -> None:
    assert make().score("word " * 49) is None
    assert make().score("word " * 50) is not None
    assert make().score("") is None
