"""The filter wording_score: which texts it measures, what it depends on, and what it refuses before a run starts."""

from pathlib import Path

import pytest

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.filters import Text, build
from obelics_pipeline.models.wording_detector.detector import all_bundled
from tests.models.wording_detector.small import PLAIN, WRONG, detector, phrasing_detector


@pytest.fixture(params=[detector, phrasing_detector])
def paths(tmp_path: Path, request: pytest.FixtureRequest) -> dict[str, str]:
    request.param().save(tmp_path / "small.npz")
    return {"xx": str(tmp_path / "small.npz")}


def test_exchanged_words_raise_the_score(paths: dict[str, str]) -> None:
    plain, wrong = (build("wording_score", {"paths": paths}).score(Text(text, "xx")) for text in (PLAIN, WRONG))
    assert plain is not None and wrong is not None
    assert plain < wrong


@pytest.mark.parametrize(("text", "language"), [("", "xx"), ("few words", "xx"), (WRONG, "de"), (WRONG, None)])
def test_short_texts_and_other_languages_have_no_score(paths: dict[str, str], text: str, language: str | None) -> None:
    assert build("wording_score", {"paths": paths}).score(Text(text, language)) is None


def test_scores_depend_on_the_detectors(paths: dict[str, str]) -> None:
    measuring = build("wording_score", {"paths": paths})
    assert measuring.files() == sorted([*paths.values(), str(all_bundled()["en"])])  # type: ignore[attr-defined]


def test_a_detector_with_another_sum_or_that_cannot_be_read_is_refused(paths: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(UserError, match="sha256"):
        build("wording_score", {"paths": paths, "sha256": {"xx": "0" * 64}})
    (tmp_path / "none.npz").write_bytes(b"no archive")
    with pytest.raises(UserError, match=r"none\.npz: cannot be read"):
        build("wording_score", {"paths": {"xx": str(tmp_path / "none.npz")}})
