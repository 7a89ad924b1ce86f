"""A detector's score, and the file that it is written to and read from."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.forest import Forest
from obelics_pipeline.models.wording_detector.detector import WordingDetector
from tests.models.wording_detector.small import PLAIN, WRONG, detector


def test_exchanged_words_raise_the_score() -> None:
    assert detector().score(PLAIN) == 0.268941  # log odds of -1
    assert detector().score(WRONG) == 0.731059


def test_a_text_of_too_few_words_has_no_score() -> None:
    assert detector().score("word " * 49) is None
    assert detector().score("word " * 50) is not None
    assert detector().score("") is None


def test_a_saved_detector_is_read_again_and_written_as_the_same_bytes(tmp_path: Path) -> None:
    first, second = tmp_path / "a.npz", tmp_path / "b.npz"
    replace(detector(), about={"documents": 3}).save(first)
    read = WordingDetector.load(first)
    read.save(second)
    assert first.read_bytes() == second.read_bytes()
    assert read.about == {"documents": 3}
    assert read.score(WRONG) == detector().score(WRONG)


@pytest.mark.parametrize("wrong", ["shape", "pairs", "number", "bytes"])
def test_any_other_file_is_refused_in_one_line(wrong: str, tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    made = detector()
    if wrong == "bytes":
        path.write_bytes(b"no archive")
    elif wrong == "number":
        forest = Forest(("age_of_the_writer",), made.forest.nodes, made.forest.roots)
        replace(made, forest=forest).save(path)
    else:
        made.save(path)
        with np.load(path) as stored:
            arrays = dict(stored)
        name = "often" if wrong == "shape" else "pairs"
        arrays[name] = arrays[name][:-1]
        np.savez_compressed(path, allow_pickle=False, **arrays)
    with pytest.raises(
        UserError, match=r"a\.npz: cannot be read \(.*; obelics fit wording-detector makes one"
    ) as error:
        WordingDetector.load(path)
    assert "\n" not in str(error.value)
