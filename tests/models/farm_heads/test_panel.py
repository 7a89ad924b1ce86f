"""The score of several heads is that of the one that says most, cheap ones are asked first, and shifts go by length."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from obelics_pipeline.models.farm_heads.kinds import KINDS, Kind
from obelics_pipeline.models.farm_heads.panel import FEWEST, MIX, SETTLED, Head, Panel, languages, stored_shifts
from obelics_pipeline.models.forest import SCALE
from obelics_pipeline.models.told import Told
from tests.models.farm_detector.small import detector as network
from tests.models.wording_detector.small import detector as wording

TEXT = "boat " * FEWEST


@dataclass
class Says:
    """A detector that says the same of every text, and counts how often it is asked."""

    log_odds_: int | None
    asked: list[str] = field(default_factory=list)

    def log_odds(self, text: str) -> int | None:
        self.asked.append(text)
        return self.log_odds_


def panel(*detectors: Says) -> Panel:
    def load(detector: Says) -> Callable[[str], Says]:
        return lambda path: detector

    def none() -> Mapping[str, str]:
        return {}

    return Panel(
        tuple(
            Head(Kind(f"head {n}", "anything", "array", none, load(one), lambda _, __: Told()), "path")
            for n, one in enumerate(detectors)
        )
    )


def test_the_head_that_says_most_makes_the_score() -> None:
    made = panel(Says(-SCALE), Says(2 * SCALE), Says(None), Says(SCALE))
    assert made.log_odds(TEXT) == 2 * SCALE
    worst = made.worst(TEXT)
    assert worst is not None and worst.kind.name == "head 1"
    assert [(head.kind.name, said) for head, said in made.judge(TEXT)] == [
        ("head 0", -SCALE), ("head 1", 2 * SCALE), ("head 3", SCALE),
    ]  # fmt: skip


def test_what_several_persons_wrote_is_judged_by_the_heads_that_may() -> None:
    shipped = Panel.of("en", [])
    asked = [head.kind.name for head in shipped.of_several_writers().heads]
    assert asked == [head.kind.name for head in shipped.heads if head.kind.name != "coherence"]
    assert len(asked) == len(shipped.heads) - 1


def test_where_no_head_says_anything_there_is_no_score() -> None:
    made = panel(Says(None))
    assert (made.log_odds(TEXT), made.worst(TEXT)) == (None, None)
    assert panel().log_odds(TEXT) is None


def test_a_head_that_settles_a_text_spares_those_after_it() -> None:
    dear = Says(0)
    assert panel(Says(SETTLED), dear).log_odds(TEXT) == SETTLED
    assert not dear.asked
    panel(Says(SETTLED - 1), dear).log_odds(TEXT)
    assert dear.asked


def test_a_text_of_few_words_meets_no_head() -> None:
    head = Says(0)
    assert panel(head).log_odds("boat " * (FEWEST - 1)) is None
    assert not head.asked


@pytest.mark.parametrize(
    ("words", "expected"), [(1, -100), (100, -100), (101, -96), (125, 0), (150, 100), (175, 100), (900, 100)]
)
def test_a_shift_lies_on_straight_lines_between_lengths(words: int, expected: int) -> None:
    assert Head(KINDS[0], "path", ((100, -100), (150, 100), (200, 100))).shift(words) == expected


def test_without_shifts_a_head_says_what_its_detector_says() -> None:
    assert Head(KINDS[0], "path").shift(120) == 0


def test_a_detector_goes_before_the_shipped_one_of_its_kind_and_is_not_shifted(tmp_path: Path) -> None:
    network().save(tmp_path / "network.npz")
    made = Panel.of("en", [str(tmp_path / "network.npz")])
    assert [head.kind.name for head in made.heads] == [kind.name for kind in KINDS if kind.name != "phrasing"]
    heads = {head.kind.name: head for head in made.heads}
    assert (heads["network"].path, heads["network"].shifts) == (str(tmp_path / "network.npz"), ())
    assert heads["wording"].path == next(kind for kind in KINDS if kind.name == "wording").bundled()["en"]


def test_a_language_has_the_heads_that_there_are(tmp_path: Path) -> None:
    wording().save(tmp_path / "wording.npz")
    assert [head.kind.name for head in Panel.of("xx", [str(tmp_path / "wording.npz")]).heads] == ["wording"]
    assert Panel.of("xx", []).heads == ()
    assert languages() == {language for kind in KINDS for language in kind.bundled()}


def test_the_shifts_of_the_package_name_its_heads_and_go_up_with_length() -> None:
    assert json.loads(MIX.read_text("utf-8")).keys() == {"shifts"}
    for language, shifts in stored_shifts(MIX).items():
        assert set(shifts) == {head.kind.name for head in Panel.of(language, []).heads}
        for points in shifts.values():
            assert [shift for _, shift in points] == sorted(shift for _, shift in points)
            assert [words for words, _ in points] == sorted({words for words, _ in points})
