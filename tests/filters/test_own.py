"""A filter in a file, a module or a notebook must measure as ours do, and each mistake be told in one line."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from obelics_pipeline.core.config import FiltersConfig, RunConfig, load_config
from obelics_pipeline.core.config.yaml_file import differences, dump_config
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.filters import Text, build, filter, names
from obelics_pipeline.filters.own import REGISTERED
from obelics_pipeline.filters.rule import build_rules
from obelics_pipeline.stages.extract.measure import decision_config, measurement_config

SOURCE = """
from dataclasses import dataclass
from obelics_pipeline.filters import Text

def my_ratio(text: Text, letters: str = "aeiou") -> float | None:
    return sum(c in letters for c in text.text) / len(text.text) if text.text else None

@dataclass
class MyRatio:
    letters: str = "aeiou"
    def score(self, text):
        return my_ratio(text, self.letters)

class Nothing:
    pass

LETTERS = "aeiou"

def no_text():
    return 1.0
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_filters.py").write_text(SOURCE)
    before = dict(REGISTERED.factories)
    yield
    REGISTERED.factories = before


def config(
    use: Any = "my_filters.py:MyRatio", name: str = "my_ratio", level: str = "document", **more: Any
) -> RunConfig:
    Path("my.yaml").write_text(f"filters: {{{level}: {{{name}: {{use: '{use}', max: 0.3}}}}}}")
    return load_config("my.yaml", [f"filters.{level}.{name}.{key}={value}" for key, value in more.items()])


def refused(use: Any, name: str = "my_ratio", **more: Any) -> str:
    with pytest.raises(UserError) as error:
        build_rules(config(use, name, **more).filters.document, "document")
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("name", ["my_ratio", "MyRatio"])
def test_a_function_and_a_class_of_a_file_measure(name: str) -> None:
    for level in ("document", "paragraph"):
        made = config(f"my_filters.py:{name}", level=level)
        (rule,) = build_rules(getattr(made.filters, level), level)
        assert rule.name == "my_ratio"
        assert rule.filter.score(Text("ab")) == 0.5
    (rule,) = build_rules(config(f"my_filters.py:{name}", options="{letters: b}").filters.document, "document")
    assert rule.filter.score(Text("abb")) == 2 / 3


def test_a_module_is_named_without_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "my_filters", raising=False)
    (rule,) = build_rules(config("my_filters:my_ratio").filters.document, "document")
    assert rule.filter.score(Text("ab")) == 0.5


def test_workers_need_no_file(tmp_path: Path) -> None:
    sent = config().model_dump_json()
    (tmp_path / "my_filters.py").unlink()
    received = RunConfig.model_validate_json(sent)
    (rule,) = build_rules(received.filters.document, "document")
    assert rule.filter.score(Text("ab")) == 0.5


def test_what_is_measured_depends_on_the_source_and_what_is_decided_does_not(tmp_path: Path) -> None:
    before = config()
    (tmp_path / "my_filters.py").write_text(SOURCE + "# another")
    after = config()
    assert measurement_config(before) != measurement_config(after)
    assert decision_config(before) == decision_config(after)
    for level in ("document", "paragraph"):
        assert measurement_config(config(level=level)) == measurement_config(config(level=level))
    changed = differences(before.model_dump(mode="json"), after)
    assert [line.partition(":")[0] for line in changed] == ["filters.document.my_ratio.use.sha256"]


def test_the_config_beside_the_output_names_the_source_and_does_not_hold_it(tmp_path: Path) -> None:
    written = dump_config(config())
    assert "my_filters.py:MyRatio" in written
    assert "sha256" in written
    assert "def score" not in written
    (tmp_path / "written.yaml").write_text(written)
    assert load_config("written.yaml") == config()
    (tmp_path / "my_filters.py").write_text(SOURCE + "# another")
    with pytest.raises(UserError, match="not the one that is given"):
        load_config("written.yaml")


def test_a_source_in_a_yaml_file_is_never_run(tmp_path: Path) -> None:
    use = "{name: 'my_filters.py:MyRatio', source: 'raise SystemError'}"
    made = load_config("default", [f"filters.document={{my_ratio: {{use: {use}}}}}"])
    assert made.filters.document["my_ratio"].use is not None
    assert made.filters.document["my_ratio"].use.source == SOURCE


def test_a_config_without_one_is_dumped_as_before() -> None:
    dumped = FiltersConfig(document={"word_count": {"min": 3}}).model_dump(mode="json")  # type: ignore[dict-item]
    assert "use" not in dumped["document"]["word_count"]


@pytest.mark.parametrize(
    ("use", "said"),
    [
        ("my_filters.py", "names no value of a file or module; give my_filters.py:MyFilter"),
        ("my_filters.py:My Ratio", "names no value of a file or module"),
        ("gone.py:MyRatio", "gone.py cannot be read (No such file or directory)"),
        ("no_such_module:MyRatio", "module no_such_module is not installed"),
        ("no_such.module:MyRatio", "module no_such.module cannot be found (ModuleNotFoundError)"),
        ("my_filters.py:MyRatios", "filter my_ratio: my_filters.py has no MyRatios; it has my_ratio, MyRatio, Nothing"),
        ("my_filters.py:Nothing", "my_filters.py:Nothing is no filter: give a class with a method score(text)"),
        ("my_filters.py:LETTERS", "my_filters.py:LETTERS is no filter"),
        ("my_filters.py:no_text", "the function takes no text"),
    ],
)
def test_what_cannot_be_used_is_told(use: str, said: str) -> None:
    assert said in refused(use)


def test_a_file_that_fails_is_told(tmp_path: Path) -> None:
    for source, said in {
        "import no_such_module": "ModuleNotFoundError: No module named 'no_such_module'",
        "def f(:": "SyntaxError",
        "raise SystemExit(3)": "SystemExit: 3",
    }.items():
        (tmp_path / "my_filters.py").write_text(source)
        assert f"my_filters.py cannot be imported: {said}" in refused("my_filters.py:MyRatio")
    (tmp_path / "my_filters.py").write_bytes(b"\xff")
    assert "is not UTF-8" in refused("my_filters.py:MyRatio")


def test_an_unknown_option_is_told_with_the_valid_ones() -> None:
    assert refused("my_filters.py:my_ratio", options="{signs: a}") == (
        "filter my_ratio: unknown option signs; valid options: letters"
    )


@pytest.mark.parametrize(
    "name", ["word_count", "url", "doc_id", "language", "personal_email", "site_documents", "Mine"]
)
def test_a_name_that_is_taken_or_no_name_is_refused(name: str) -> None:
    said = refused("my_filters.py:my_ratio", name)
    assert said.startswith(f"filter {name}: ")


def test_a_registered_filter_is_known_by_its_name_and_may_be_registered_again() -> None:
    def made(otherwise: float) -> None:
        @filter
        def shouting(text: Text, by: float = otherwise) -> float:
            return by

    made(1)
    assert build("shouting").score("x") == 1.0
    assert "shouting" in names()
    made(2)
    assert build("shouting").score("x") == 2.0
    assert build("shouting", {"by": 3}).score("x") == 3.0


def test_a_registered_filter_is_refused_where_there_are_workers() -> None:
    @filter
    class Shouting:
        name = "shouting"

        def score(self, text: Text) -> float:
            return 1.0

    made = load_config("default", ["filters.document={shouting: {max: 1}}"])
    with pytest.raises(UserError, match=r"filter shouting: is registered in this process.*use: my_filters\.py"):
        measurement_config(made)


def test_what_is_no_filter_and_a_taken_name_cannot_be_registered() -> None:
    def word_count(text: Text) -> float:
        return 1.0

    with pytest.raises(UserError, match="filter word_count: the name is taken"):
        filter(word_count)
    with pytest.raises(UserError, match="is no filter"):
        filter(len)


def test_a_plain_string_is_a_text_also_in_a_script_without_spaces() -> None:
    assert build("word_count").score("some text") == 2.0
    assert build("word_count").score("我们喜欢喝茶") == build("word_count").score(Text("我们喜欢喝茶", segment=True))
    assert build("stopword_ratio").score("the tea") is None
    assert build("stopword_ratio").score(Text("the tea", "en")) == 0.5


def test_the_last_cleaning_takes_filters_by_name_only() -> None:
    with pytest.raises(UserError, match=r"my_ratio\.use: only filters by name are applied here") as error:
        load_config("default", ["finish.paragraph={my_ratio: {use: 'my_filters.py:my_ratio'}}"])
    assert "\n" not in str(error.value)
