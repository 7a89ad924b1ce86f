"""Filters must be found by name, ours and those of other packages, and each mistake told in one line."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.filters import Text, build, names
from obelics_pipeline.filters.registry import BUILT_IN

Install = Callable[[str, str], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts a package with entry points and a module `theirs` on the path, as an installer would."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "theirs", raising=False)

    def write(points: str, module: str) -> None:
        info = tmp_path / "theirs-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[obelics_pipeline.filters]\n{points}\n")
        (tmp_path / "theirs.py").write_text(module)

    return write


VOWELS = """
class Vowels:
    def __init__(self, letters="aeiou"):
        self.letters = letters
    def score(self, text):
        return float(sum(c in self.letters for c in text.text))
"""


def message(name: str, options: dict[str, object] | None = None) -> str:
    with pytest.raises(UserError) as error:
        build(name, options)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_the_statistics_of_the_reference_and_ours_are_there() -> None:
    assert set(BUILT_IN) == {
        "word_count", "character_repetition_ratio", "word_repetition_ratio", "special_character_ratio",
        "stopword_ratio", "flagged_word_ratio", "punctuation_ratio", "common_word_ratio", "language_score",
        "perplexity", "worse_than_unigram_ratio", "quality_score", "spam_word_ratio", "image_count",
        "main_content_confidence", "farm_score", "chat_score", "wording_score", "distinct_word_ratio",
        "lexical_cohesion", "page_type_probability", "images_per_thousand_words",
    }  # fmt: skip


def test_a_name_is_the_name_of_its_file() -> None:
    for name, factory in BUILT_IN.items():
        assert sys.modules[factory.__module__].__name__ == f"obelics_pipeline.filters.{name}"


def test_an_unknown_name_lists_the_valid_ones_and_the_nearest() -> None:
    said = message("word_cuont")
    assert "character_repetition_ratio" in said
    assert "; did you mean word_count?; valid names: " in said


def test_an_unknown_option_lists_the_valid_ones() -> None:
    assert message("punctuation_ratio", {"words": 3}) == (
        "filter punctuation_ratio: unknown option words; valid options: min_words, marks"
    )
    assert message("word_count", {"n": 3}) == "filter word_count: unknown option n; it has none"


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("character_repetition_ratio", {"n": 0}),
        ("word_repetition_ratio", {"n": 101}),
        ("word_repetition_ratio", {"n": "five"}),
        ("word_repetition_ratio", {"n": True}),
        ("punctuation_ratio", {"min_words": -1}),
        ("punctuation_ratio", {"marks": ""}),
        ("stopword_ratio", {"paths": ["words.txt"]}),
    ],
)
def test_an_option_out_of_range_is_named(name: str, options: dict[str, object]) -> None:
    said = message(name, options)
    assert said.startswith(f"filter {name}: option {next(iter(options))}: ")
    assert repr(next(iter(options.values()))) in said


def test_what_must_be_given_is_asked_for_with_a_way_out() -> None:
    assert "option paths is missing" in message("common_word_ratio")
    assert "paths: null" in message("common_word_ratio")


def test_a_filter_of_another_package_is_found_by_entry_point(install: Install) -> None:
    install("vowels = theirs:Vowels", VOWELS)
    assert build("vowels").score(Text("banana")) == 3.0
    assert build("vowels", {"letters": "b"}).score(Text("banana")) == 1.0
    assert "unknown option letter; valid options: letters" in message("vowels", {"letter": "b"})


def test_it_is_imported_only_when_it_is_asked_for(install: Install) -> None:
    install("vowels = theirs:Vowels", VOWELS)
    assert "vowels" in names()
    build("word_count")
    message("vowles")
    assert "theirs" not in sys.modules


def test_a_name_of_ours_cannot_be_taken(install: Install) -> None:
    install("word_count = theirs:Vowels", VOWELS)
    assert build("word_count").score(Text("banana split")) == 2.0
    assert names().count("word_count") == 1


@pytest.mark.parametrize(
    ("points", "module", "said"),
    [
        ("bad = theirs:Vowels", "import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("bad = theirs:Gone", VOWELS, "AttributeError"),
        ("bad = not_there:Vowels", VOWELS, "ModuleNotFoundError"),
        ("bad = theirs:Vowels", "raise SystemError('two\\nlines')", "SystemError: two lines"),
        ("bad = theirs:Vowels", "Vowels = 3", "is no class or function"),
        ("bad = theirs:Vowels", "def Vowels(): return 3", "int has no method score(text)"),
        ("bad = theirs:Vowels", "def Vowels(): raise KeyError('x')", "KeyError: 'x'"),
    ],
)
def test_a_broken_entry_point_is_told_in_one_line(install: Install, points: str, module: str, said: str) -> None:
    install(points, module)
    assert said in message("bad")
