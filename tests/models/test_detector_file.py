"""Detectors are read as they were written, and any other file is refused in one line."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.forest import Forest
from tests.models.coherence_detector import small as coherence
from tests.models.wording_detector import small as wording


class Detector(NamedTuple):
    """A small detector, a text that it scores, arrays of its file, and the command that makes one."""

    make: Callable[[], Any]
    text: str
    arrays: tuple[str, ...]
    command: str


WORDING = "wording-detector or phrasing-detector"  # one module reads both
DETECTORS = {
    "wording": Detector(wording.detector, wording.WRONG, ("often", "pairs", "choices"), WORDING),
    "phrasing": Detector(
        wording.phrasing_detector, wording.WRONG, ("often", "pairs", "sets", "agree", "subject"), WORDING
    ),
    "coherence": Detector(
        coherence.detector, coherence.OUT_OF_ORDER, ("vectors_before", "vectors_subject"), "coherence-detector"
    ),
}


def wrongs() -> Iterator[tuple[str, str]]:
    """Each detector with each of its arrays cut, with a forest of another version, and as other bytes."""
    for name, detector in DETECTORS.items():
        yield from ((name, wrong) for wrong in (*detector.arrays, "number", "bytes"))


@pytest.mark.parametrize("name", DETECTORS)
def test_a_saved_detector_is_read_again_and_written_as_the_same_bytes(name: str, tmp_path: Path) -> None:
    first, second = tmp_path / "a.npz", tmp_path / "b.npz"
    made = DETECTORS[name].make()
    replace(made, about={"documents": 3}).save(first)
    read = type(made).load(first)
    read.save(second)
    assert first.read_bytes() == second.read_bytes()
    assert read.about == {"documents": 3}
    assert read.score(DETECTORS[name].text) == made.score(DETECTORS[name].text)


@pytest.mark.parametrize(("name", "wrong"), list(wrongs()))
def test_any_other_file_is_refused_in_one_line(name: str, wrong: str, tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    made = DETECTORS[name].make()
    if wrong == "bytes":
        path.write_bytes(b"no archive")
    elif wrong == "number":
        forest = Forest(("age_of_the_writer",), made.forest.nodes, made.forest.roots)
        replace(made, forest=forest).save(path)
    else:
        made.save(path)
        with np.load(path) as stored:
            arrays = dict(stored)
        arrays[wrong] = arrays[wrong][:-1]
        np.savez_compressed(path, allow_pickle=False, **arrays)
    told = rf"a\.npz: cannot be read \(.*; obelics fit {DETECTORS[name].command} makes one"
    with pytest.raises(UserError, match=told) as error:
        type(made).load(path)
    assert "\n" not in str(error.value)
