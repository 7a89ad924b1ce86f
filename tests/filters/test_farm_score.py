"""The score of generated text is that of the detector of the text's language, and none elsewhere."""

from pathlib import Path

import pytest

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.filters.farm_score import FarmScore
from obelics_pipeline.filters.text import Text
from obelics_pipeline.models.farm_detector.detector import bundled
from tests.models.farm_detector.small import detector

TEXT = "the old boat of the harbour " * 20


@pytest.fixture
def path(tmp_path: Path) -> str:
    detector().save(tmp_path / "small.npz")
    return str(tmp_path / "small.npz")


def test_the_detector_of_the_language_scores(path: str) -> None:
    made = FarmScore(paths={"xx": path})
    assert made.score(Text(TEXT, "xx")) == detector().score(TEXT)
    assert made.score(Text(TEXT, "yy")) is None
    assert made.score(Text(TEXT)) is None
    assert made.score(Text("boat", "xx")) is None
    assert path in made.files()
    assert made.not_applied is None


def test_without_a_detector_it_says_that_it_measures_nothing() -> None:
    assert (FarmScore().not_applied is None) == (bundled("en") is not None)
    assert FarmScore().score(Text(TEXT, "xx")) is None


def test_a_detector_that_cannot_be_read_stops_the_run_before_it_starts(tmp_path: Path) -> None:
    (tmp_path / "wrong.npz").write_bytes(b"wrong")
    for name in ("wrong.npz", "missing.npz"):
        with pytest.raises(UserError, match=f"detector .*{name}: cannot be read"):
            FarmScore(paths={"en": str(tmp_path / name)})


def test_it_tells_the_reasons_of_its_score_in_rows_of_three(path: str) -> None:
    made = FarmScore(paths={"xx": path})
    rows = list(made.reasons(Text(TEXT, "xx")))
    assert {len(row) for row in rows} == {3}
    assert "worst stretch" in {row[0] for row in rows}
    assert any(row[2].startswith("harbour, in “") for row in rows)
    assert not list(made.reasons(Text(TEXT, "yy")))
    assert not list(made.reasons(Text("boat", "xx")))
