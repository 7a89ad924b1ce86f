"""Shifts of heads: each takes as many honest texts of a length, and one in 250 passes the bound in any head."""

import json
from pathlib import Path

import pytest

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.fit.farm_heads import BOUND, FEWEST, LENGTHS, beginning, falling, fit_farm_heads, highest
from obelics_pipeline.models.farm_heads.panel import stored_shifts
from obelics_pipeline.models.forest import score_of
from tests.models.wording_detector.small import PLAIN, WRONG, detector


@pytest.fixture
def honest(tmp_path: Path) -> Path:
    """Texts of 160 words of which one in ten has wrong words."""
    path = tmp_path / "honest.jsonl"
    texts = [(WRONG if number % 10 == 0 else PLAIN) * 2 for number in range(FEWEST)]
    path.write_text("".join(json.dumps({"text": text, "source": "web"}) + "\n" for text in texts))
    return path


def test_a_head_that_takes_too_many_honest_texts_is_shifted_down(honest: Path, tmp_path: Path) -> None:
    made = detector()
    sure = type(made)(made.habits, made.forest, {})
    sure.forest.nodes["child"][sure.forest.nodes["feature"] < 0] *= 5  # log odds of 5 in place of 1
    sure.save(tmp_path / "sure.npz")
    said: list[str] = []
    fit_farm_heads([str(honest)], [str(tmp_path / "sure.npz")], tmp_path / "mix.json", "xx", said.append)
    points = stored_shifts(tmp_path / "mix.json")["xx"]["wording"]
    assert points == [[words, round(BOUND - 5, 2)] for words in LENGTHS if words < len((PLAIN * 2).split())]
    assert said[-1].startswith("wording: -2.06 at 105 words")
    assert score_of(int((5 + points[0][1]) * 65536)) == pytest.approx(0.95, abs=0.001)


def test_a_head_that_takes_too_few_is_shifted_up_and_other_languages_stay(honest: Path, tmp_path: Path) -> None:
    detector().save(tmp_path / "small.npz")
    (tmp_path / "mix.json").write_text('{"shifts": {"yy": {"network": [[105, -1.5]]}}}')
    fit_farm_heads([str(honest)], [str(tmp_path / "small.npz")], tmp_path / "mix.json", "xx", lambda _: None)
    stored = stored_shifts(tmp_path / "mix.json")
    assert {shift for _, shift in stored["xx"]["wording"]} == {round(BOUND - 1, 2)}
    assert stored["yy"] == {"network": [[105, -1.5]]}


def test_too_few_texts_and_a_language_without_heads_are_refused(honest: Path, tmp_path: Path) -> None:
    few = tmp_path / "few.jsonl"
    few.write_text("".join(honest.read_text().splitlines(keepends=True)[1:]))
    detector().save(tmp_path / "small.npz")
    with pytest.raises(UserError, match=f"give {FEWEST} or more"):
        fit_farm_heads([str(few)], [str(tmp_path / "small.npz")], tmp_path / "mix.json", "xx", lambda _: None)
    with pytest.raises(UserError, match="language xx: the package ships no detector"):
        fit_farm_heads([str(honest)], [], tmp_path / "mix.json", "xx", lambda _: None)


def test_a_shorter_text_is_shifted_no_less_than_a_longer_one() -> None:
    assert falling([(100, 0.0), (150, -1.0), (200, -0.2), (300, -0.5), (400, 0.0)]) == [
        (100, -1.0), (150, -1.0), (200, -0.5), (300, -0.5), (400, 0.0),
    ]  # fmt: skip
    assert falling([(100, 0.5), (150, 1.0)]) == [(100, 0.5), (150, 1.0)]


def test_each_group_has_the_same_weight() -> None:
    assert highest([[5.0, 0.0], [float(n) for n in range(100)]], 0.25) == 50.0
    assert highest([[float(n) for n in range(100)]], 0.01) == 98.0
    assert highest([[1.0]], 1.0) == 1.0


def test_a_beginning_is_the_text_as_it_is_written() -> None:
    assert beginning("  one\ntwo  three", 2) == "  one\ntwo  "
    assert beginning("one two ", 2) is None
