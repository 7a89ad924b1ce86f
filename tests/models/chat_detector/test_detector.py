"""A detector's score, and the file that it is written to and read from."""

from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.chat_detector.detector import MIX_ONE, ChatDetector, Mix, Settled
from obelics_pipeline.models.forest import SCALE, Forest
from obelics_pipeline.models.perplexity import PerplexityModel
from tests.models.chat_detector.small import CHATTY, PLAIN, Foresees, detector


def foresees(log10: float = -1.0) -> PerplexityModel:
    return cast(PerplexityModel, Foresees(log10))


def test_words_and_what_is_foreseen_both_raise_the_score() -> None:
    of_nothing = detector().score(PLAIN, foresees(-3.0))
    of_words, of_forest = detector().score(CHATTY, foresees(-3.0)), detector().score(PLAIN, foresees())
    both = detector().score(CHATTY, foresees())
    assert of_nothing == 0.268941  # log odds of -1
    assert of_forest == 0.731059
    assert of_words is not None and both is not None
    assert of_nothing < of_words < both and of_forest < both


def test_each_part_has_its_share_and_the_rest_is_added() -> None:
    only_bias = replace(detector(), mix=Mix(0, 0, 1 << 17))
    assert only_bias.score(PLAIN, foresees()) == only_bias.score(CHATTY, foresees(-3.0)) == 0.880797  # log odds of 2
    half = replace(detector(), mix=Mix(0, MIX_ONE // 2, 0))
    assert half.score(PLAIN, foresees()) == 0.622459


def test_where_words_settle_it_the_language_model_is_not_asked() -> None:
    settling = replace(detector(), settled=Settled(1, -2 * SCALE))
    assert settling.score(PLAIN, cast(PerplexityModel, None)) == 0.119203  # log odds of -2, words say 0
    assert settling.score(CHATTY, foresees()) == detector().score(CHATTY, foresees())


def test_a_text_of_too_few_words_has_no_score() -> None:
    assert detector().score("word " * 49, foresees()) is None
    assert detector().score("word " * 50, foresees()) is not None
    assert detector().score("", foresees()) is None


def test_a_saved_detector_is_read_again_and_written_as_the_same_bytes(tmp_path: Path) -> None:
    first, second = tmp_path / "a.npz", tmp_path / "b.npz"
    settled = Settled(-SCALE, -2 * SCALE)
    replace(detector(), settled=settled, about={"texts": {"people": 3}}).save(first)
    read = ChatDetector.load(first)
    read.save(second)
    assert first.read_bytes() == second.read_bytes()
    assert read.settled == settled
    assert read.about == {"texts": {"people": 3}}
    assert read.score(CHATTY, foresees()) == detector().score(CHATTY, foresees())


def test_a_file_that_is_none_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "none.npz"
    path.write_bytes(b"nothing")
    with pytest.raises(UserError, match=r"none\.npz: cannot be read .*fit chat-detector makes one") as error:
        ChatDetector.load(path)
    assert "\n" not in str(error.value)


def test_a_file_with_other_weights_or_numbers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"weights: int8 of shape \(3,\)"):
        replace(detector(), weights=np.zeros(3, np.int8))
    made = detector()
    replace(made, forest=Forest(("unheard_of",), made.forest.nodes, made.forest.roots)).save(tmp_path / "other.npz")
    with pytest.raises(UserError, match="it asks for unheard_of"):
        ChatDetector.load(tmp_path / "other.npz")
