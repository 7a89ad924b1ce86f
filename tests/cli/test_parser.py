"""What a person types wrongly is answered in one line that names what was meant; the help shows commands in groups."""

import argparse
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from obelics_pipeline.cli.completion import FILES, FOLDERS, SHELLS
from obelics_pipeline.cli.main import GROUPS, main, make_parser
from obelics_pipeline.cli.parser import EveryValue

WIDTH = 80
"""Columns of the narrowest terminal in use."""


def printed(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[object, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    out, err = capsys.readouterr()
    return ended.value.code, out, err


def parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from parsers(command)


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        (["rnu"], "unknown command rnu; did you mean run?; see: obelics --help"),
        (["xyzzy"], "unknown command xyzzy; valid: demo, check, run, "),
        (["--versoin"], "unknown option --versoin; did you mean --version?"),
        (["run", "default", "--input", "a", "--outptu", "b"], "unknown option --outptu; did you mean --output?"),
        (["validate", "--quick=1", "x"], "unknown option --quick; see: obelics validate --help"),
        (["intervene", "x", "lr", "--facotr", "2"], "unknown option --facotr; did you mean --factor?"),
        (["intervene", "x", "lrr"], "unknown change lrr; did you mean lr?"),
        (["export", "x", "--format", "parqet"], "argument --format: parqet is not valid; did you mean parquet?; valid"),
        (["validate", "x", "y"], "unexpected argument y; see: obelics validate --help"),
        (["run", "x", "--workers", "many"], "argument --workers: must be a whole number of 1 or more, got many"),
        (["run", "x", "--workers", "0"], "argument --workers: must be a whole number of 1 or more, got 0"),
    ],
)
def test_a_wrong_command_line_is_answered_in_one_line(
    typed: list[str], answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = printed(typed, capsys)
    assert (code, out) == (2, "")
    assert err.startswith(f"obelics: {answer}"), err
    assert err.count("\n") == 1


def test_an_option_may_be_abbreviated_and_a_value_may_look_like_one() -> None:
    arguments = make_parser().parse_args(["intervene", "x", "lr", "--fact", "2", "--reason", "--is what I type"])
    assert (arguments.factor, arguments.reason) == (2.0, "--is what I type")


def test_an_option_of_many_values_keeps_them_all_however_often_it_is_given() -> None:
    typed = [
        "run",
        "default",
        "--output",
        "o",
        "--input",
        "a",
        "b",
        "--input",
        "c",
        "--stage",
        "dedup",
        "--stage",
        "shard",
    ]
    found = make_parser().parse_args(typed)
    assert (found.input, found.stage, found.against) == (["a", "b", "c"], ["dedup", "shard"], [])
    assert make_parser().parse_args(["probe", "x", "--output", "o", "--only", "range", "--only", "overfit"]).only == [
        "range",
        "overfit",
    ]


def test_no_option_of_any_command_drops_values_without_a_word() -> None:
    many = [a for parser in parsers(make_parser()) for a in parser._actions if a.option_strings and a.nargs == "+"]
    assert many
    assert [a.dest for a in many if not isinstance(a, EveryValue)] == []


def test_what_stands_after_two_dashes_is_no_option() -> None:
    assert make_parser().parse_args(["validate", "--", "--folder"]).folder == "--folder"


def test_the_help_has_every_command_under_its_heading_in_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    code, out, _ = printed(["--help"], capsys)
    assert code == 0
    below: dict[str, int] = {}
    for line in out.partition("commands:\n")[2].splitlines():
        if line in GROUPS:
            heading = line
            below[heading] = 0
        elif line.startswith("  "):
            assert line[2] != " ", f"the purpose takes a second line: {line}"
            below[heading] += 1
    assert below == {heading: len(adders) for heading, adders in GROUPS.items()}


def test_no_two_commands_have_the_same_purpose() -> None:
    (commands,) = (a for a in make_parser()._actions if isinstance(a, argparse._SubParsersAction))
    purposes = [command.help for command in commands._choices_actions]
    assert len(purposes) == len(set(purposes)) == len(commands.choices)


def test_every_argument_says_what_it_is() -> None:
    silent = [
        f"{parser.prog} {action.dest}"
        for parser in parsers(make_parser())
        for action in parser._actions
        if not action.help and not isinstance(action, argparse._SubParsersAction)
    ]
    assert silent == []


def test_the_package_run_as_a_module_is_the_same_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = printed(["run", "--help"], capsys)
    monkeypatch.setattr(sys, "argv", ["/somewhere/obelics_pipeline/__main__.py", "run", "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("obelics_pipeline", run_name="__main__")
    out, err = capsys.readouterr()
    assert (ended.value.code, out, err) == command
    assert out.startswith("usage: obelics run ")


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_gets_a_script_that_knows_the_commands(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = printed(["--print-completion", shell], capsys)
    assert code == 0
    assert "explain-spike" in out
    assert "retry-failed" in out


def test_every_argument_that_is_a_path_is_completed_as_one() -> None:
    paths = {
        (action.metavar if isinstance(action.metavar, str) else "")
        for parser in parsers(make_parser())
        for action in parser._actions
        if action.type is Path and action.nargs != 2  # a pair has two metavars, and is not completed
    }
    assert paths <= FILES | FOLDERS


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_bash_completes_commands_options_and_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, script, _ = printed(["--print-completion", "bash"], capsys)
    (tmp_path / "script").write_text(script)
    (tmp_path / "mine.yaml").write_text("")

    def completed(*words: str) -> set[str]:
        line = " ".join(words)
        code = (
            f'source ./script; COMP_WORDS=({line}); [ -z "{words[-1]}" ] && COMP_WORDS+=(""); '
            f'COMP_CWORD={len(words) - 1}; COMP_LINE="{line}"; COMP_POINT={len(line)}; '
            '_shtab_obelics; printf "%s\\n" "${COMPREPLY[@]}"'
        )
        done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True)
        return set(done.stdout.split())

    assert completed("obelics", "exp") == {"expect", "explain", "explain-spike", "export"}
    assert completed("obelics", "run", "--retry") == {"--retry-failed"}
    assert completed("obelics", "run", "mi") == {"mine.yaml"}
    assert "obelics_pipeline" not in script
