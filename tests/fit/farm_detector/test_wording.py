"""What pages say in a language must fill every blank, and be of that language."""

from pathlib import Path
from random import Random
from string import Formatter

import pytest

from obelics_pipeline.fit.farm_detector import wording
from obelics_pipeline.fit.farm_detector.marked_text import plain
from obelics_pipeline.fit.farm_detector.templates import stuffed_templates
from obelics_pipeline.fit.farm_detector.trusted import TrustedTexts
from obelics_pipeline.fit.farm_detector.wording import Wording
from tests.fit.farm_detector.small import texts

LANGUAGES = sorted(path.stem for path in (Path(wording.__file__).parent / "wording").glob("*.txt"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_says_all_that_pages_say_and_nothing_twice(language: str) -> None:
    said = Wording.of(language)
    lines = (said.titles, said.openings, said.bodies, said.endings, said.cities, said.menu, said.notices, said.bylines)
    for kind in lines:
        assert len(kind) > 4
        assert len(set(kind)) == len(kind)
    assert len(said.function_words) > 100
    blanks = {name for kind in lines for line in kind for _, name, _, _ in Formatter().parse(line) if name}
    assert blanks <= {
        *("key", "Key", "other", "city", "elsewhere", "few", "small", "large", "year"),
        *("site", "name", "title", "word", "hour", "minute", "day", "month"),
    }


def test_templates_are_of_the_language_of_the_texts() -> None:
    made = [plain(stuffed_templates(TrustedTexts(texts(), "de"), Random(seed))) for seed in range(9)]
    for language, there in (("de", True), ("en", False)):
        cities = set(Wording.of(language).cities)
        assert any(city in text for city in cities for text in made) == there


def test_a_language_without_a_file_says_it_in_english() -> None:
    assert Wording.of("xx") == Wording.of("en")
    assert Wording.of("de") != Wording.of("en")
