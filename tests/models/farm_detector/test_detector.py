"""A detector is the same after a file, scores what there is enough of, and trusts no file."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.farm_detector.detector import BEGINNING, FEWEST_WORDS, SETTLED, TOKENS, Detector
from obelics_pipeline.models.farm_detector.tokens import find_tokens
from tests.models.farm_detector.small import detector

VARIED = " ".join(f"w{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(100))


def test_the_score_is_the_forest_s_odds_as_a_probability() -> None:
    assert detector().score(VARIED) == pytest.approx(1 / (1 + np.exp(2)), abs=1e-6)
    assert detector().score("old boat " * 50) == pytest.approx(1 / (1 + np.exp(-2)), abs=1e-6)


def test_too_short_a_text_has_no_score() -> None:
    assert detector().score("") is None
    assert detector().score("boat " * (FEWEST_WORDS - 1) + "1 2 3 " * 50) is None
    assert detector().score("boat " * FEWEST_WORDS) is not None


def test_of_a_long_text_the_beginning_counts() -> None:
    text = f"{VARIED} " * (TOKENS // 100 + 1)
    beginning = " ".join(text.split()[:TOKENS])
    assert detector().evidence(text + "boat " * 1000) == detector().evidence(beginning)


def test_of_a_page_that_its_beginning_settles_no_more_is_read() -> None:
    made, honest = detector(), f"{VARIED} " * 3
    beginning = " ".join(honest.split()[:BEGINNING])
    assert len(find_tokens(beginning)) == BEGINNING
    read = made.reading(beginning + " boat" * 1000)
    assert read == (BEGINNING, made.reading(beginning)[1])  # type: ignore[index]
    assert made.forest.log_odds_of(read[1]) < SETTLED
    suspicious = made.reading("old boat " * 600)
    assert suspicious is not None and suspicious[0] == TOKENS


@given(st.text(max_size=300))
def test_any_text_has_a_score_from_0_to_1(text: str) -> None:
    score = detector().score(text + " old boat" * 30)
    assert score is not None
    assert 0 <= score <= 1


def test_a_file_gives_the_same_detector_and_is_the_same_for_it(tmp_path: Path) -> None:
    one, two = tmp_path / "one.npz", tmp_path / "two.npz"
    detector().save(one)
    read = Detector.load(one)
    read.save(two)
    assert one.read_bytes() == two.read_bytes()
    assert (read.language, read.about, read.vocabulary.words) == ("en", {"threshold": 0.5}, detector().vocabulary.words)
    assert read.evidence(VARIED) == detector().evidence(VARIED)
    assert read.score(VARIED) == detector().score(VARIED)


def altered(tmp_path: Path, **arrays: object) -> Path:
    detector().save(tmp_path / "detector.npz")
    with np.load(tmp_path / "detector.npz") as stored:
        values = dict(stored) | arrays
    path = tmp_path / "altered.npz"
    np.savez(path, **{name: value for name, value in values.items() if value is not None})  # type: ignore[arg-type]
    return path


def as_bytes(value: object) -> object:
    return np.frombuffer(json.dumps(value).encode(), np.uint8)


ABOUT = {"language": "en", "features": ["distinct_50"], "about": {}}


@pytest.mark.parametrize(
    "arrays",
    [
        {"about": None},
        {"about": as_bytes([])},
        {"about": np.frombuffer(b"{", np.uint8)},
        {"about": as_bytes(ABOUT | {"features": []})},
        {"about": as_bytes(ABOUT | {"about": 7})},
        {"vocabulary": as_bytes(["a"])},
        {"vocabulary": as_bytes(7)},
        {"forest_roots": np.array([9], np.int32)},
        {"forest_child": np.array([0, 0, 0], np.int32)},
        {"forest_child": np.array([0], np.int32)},
        {"words": np.zeros((3, 3), np.int8)},
        {"words": np.array([{}], object)},
        {"output": np.zeros((15, 3))},
    ],
)
def test_a_file_that_is_no_detector_is_refused_in_one_line(arrays: dict[str, object], tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"^detector .*altered\.npz: cannot be read \(.*obelics fit detector"
    ) as refused:
        Detector.load(altered(tmp_path, **arrays))
    assert "\n" not in str(refused.value)


def test_a_feature_that_no_text_has_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        Detector.load(altered(tmp_path, about=as_bytes(ABOUT | {"features": ["nonsense"]})))


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"nonsense", b"\x80\x04\x95"])
def test_a_file_that_is_no_archive_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    path.write_bytes(content)
    with pytest.raises(UserError, match="cannot be read"):
        Detector.load(path)
    with pytest.raises(UserError, match="cannot be read"):
        Detector.load(tmp_path / "missing.npz")


def test_an_array_that_would_fill_the_memory_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("words.npy", bytes(65 * 2**20))
    with pytest.raises(UserError, match=r"words\.npy has more than"):
        Detector.load(path)
