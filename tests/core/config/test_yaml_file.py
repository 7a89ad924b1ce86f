"""A YAML file that is damaged or hostile is refused in one line, and costs little."""

from pathlib import Path

import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.config import load_config
from obelics_pipeline.core.config.yaml_text import MOST_BYTES, MOST_LEVELS, MOST_VALUES, NotYaml, load
from obelics_pipeline.core.errors import UserError


def bomb(levels: int, each: int = 9) -> str:
    """Lists of which each holds the one before `each` times, by its alias."""
    lines = ["- &a0 [x]", *(f"- &a{i + 1} [{', '.join([f'*a{i}'] * each)}]" for i in range(levels))]
    return "\n".join(lines)


HOSTILE = {
    "nested lists": ("a: " + "[" * 20_000 + "]" * 20_000, f"1: .*more than {MOST_LEVELS} levels"),
    "nested blocks": ("- " * 20_000 + "x", f"1: .*more than {MOST_LEVELS} levels"),
    "unclosed": ("{" * 20_000, f"1: .*more than {MOST_LEVELS} levels"),
    "aliases": (bomb(9), f"more than {MOST_VALUES:,} values"),
    "merged aliases": (
        "a0: &a0 {x: 1}\n" + "\n".join(f"a{i + 1}: &a{i + 1} {{<<: [{', '.join([f'*a{i}'] * 9)}]}}" for i in range(9)),
        f"more than {MOST_VALUES:,} values",
    ),
    "a chain of aliases": (bomb(2_000, each=1), f"more than {MOST_LEVELS} levels"),
    "an alias of itself": ("fetch: &a {threads: *a}", "an alias stands within what it names"),
    "a merge of itself": ("fetch: &a {<<: *a}", "an alias stands within what it names"),
    "an unknown alias": ("fetch: *a", "undefined alias 'a'"),
    "a long whole number": (f"fetch: {{threads: {'9' * 5_000}}}", "no whole number of 64 bits"),
    "a long number in base 16": (f"fetch: {{threads: 0x{'f' * 5_000}}}", "no whole number of 64 bits"),
    "a long number in base 60": (f"fetch: {{threads: 1{':1' * 50_000}}}", "no whole number of 64 bits"),
    "no day": ("fetch: 2024-99-99", "'2024-99-99' is no timestamp"),
    "no number": ("fetch: !!float abc", "'abc' is no float"),
    "no whole number": ("fetch: !!int ''", "'' is no int"),
    "neither true nor false": ("fetch: !!bool maybe", "'maybe' is no bool"),
    "half a character": ('fetch: {user_agent: "\\ud800"}', "is no str"),
    "no character": ('fetch: {user_agent: "\\U00110000"}', "not valid YAML"),
    "a NUL": ("fetch: {}\nx: \0", r"2: .*U\+0000 is not allowed"),
    "a tab": ("fetch:\n\tthreads: 3", "2: .*cannot start any token"),
    "a list for a key": ("? [1]\n: 2", "unhashable key"),
    "two documents": ("fetch: {}\n---\nfetch: {}", "expected a single document"),
    "a section twice": (
        "fetch: {threads: 3}\nfetch: {per_host: 1}",
        "2: .*key 'fetch' is there twice, first in line 1",
    ),
    "a key twice": ("fetch:\n  threads: 3\n  'threads': 4\n", "3: .*key 'threads' is there twice, first in line 2"),
    "a filter twice": (
        "filters:\n document:\n  word_count: {min: 3}\n  word_count: {min: 4}",
        "4: .*'word_count' is there twice, first in line 3",
    ),
    "too long": ("#" * (MOST_BYTES + 1), f"longer than {MOST_BYTES:,} bytes"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_is_hostile_or_damaged_is_refused_in_one_line(what: str, tmp_path: Path) -> None:
    text, line = HOSTILE[what]
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(UserError, match=line) as error:
        load_config(str(path))
    assert "mine.yaml" in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 600


@pytest.mark.parametrize("text", ["[" * 20_000, bomb(9), "9" * 5_000, "2024-99-99", "{a: 1, a: 2}"])
def test_a_hostile_override_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(UserError, match=r"^--set fetch\.threads=.*not valid YAML") as error:
        load_config("default", [f"fetch.threads={text}"])
    assert len(str(error.value)) < 600


def test_bytes_that_are_no_utf_8_are_told_with_their_place(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_bytes(b"fetch: \xff\xfe")
    with pytest.raises(UserError, match=r"mine\.yaml: .*not UTF-8 .*at byte 7"):
        load_config(str(path))


@pytest.mark.parametrize(
    ("name", "line"), [("", "is a folder"), ("nowhere.yaml", "no such file"), ("x" * 5_000, "name")]
)
def test_what_is_no_file_is_told_in_one_line(name: str, line: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=line) as error:
        load_config(str(tmp_path / name))
    assert "\n" not in str(error.value)


def test_a_folder_does_not_hide_the_bundled_config_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "default").mkdir()
    monkeypatch.chdir(tmp_path)
    assert load_config("default") == load_config("configs/default.yaml")


def test_what_a_key_is_made_of_reaches_no_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text('"a\\nb\\e[31m": 1')
    assert main(["run", str(path), "--input", "x.warc", "--output", str(tmp_path / "out")]) == 2
    printed = capsys.readouterr().err
    assert "\x1b" not in printed
    assert printed.count("\n") == 1


def test_aliases_and_merged_keys_that_cost_little_are_read() -> None:
    text = "a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\nc: [*a, *a]\n"
    assert load(text) == {"a": {"x": 1, "y": 2}, "b": {"x": 1, "y": 3}, "c": [{"x": 1, "y": 2}] * 2}


def test_what_an_alias_stands_for_counts_as_often_as_it_is_used() -> None:
    text = "a: &a [" + "x, " * 998 + "x]\nb: [{}]\n"
    assert len(load(text.format(", ".join(["*a"] * 48)))["b"]) == 48
    with pytest.raises(NotYaml, match="more than"):
        load(text.format(", ".join(["*a"] * 50)))
