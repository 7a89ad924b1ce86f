"""Code blocks of the pages: every command in them exists, and a block that is not run says why."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from doctest import DocTestParser

import pytest

from docs.blocks import ROOT, blocks
from obelics_pipeline.cli.main import make_parser

ALL = list(blocks())


def commands() -> Iterator[tuple[str, str]]:
    """`PAGE:LINE` and each `obelics` command of the pages, fenced or indented, its lines joined."""
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = path.read_text("utf-8")
        for found in re.finditer(r"^ *(?:\$ |ray job submit .*?-- )?(obelics (?:[^\n]*\\\n)*[^\n]*)$", text, re.M):
            if found[1].split()[1].isalpha() or "-" in found[1].split()[1]:
                line = text.count("\n", 0, found.start()) + 1
                yield f"{path.relative_to(ROOT)}:{line}", found[1].replace("\\\n", " ")


def test_languages_are_those_that_are_known() -> None:
    unknown = [f"{b.page}:{b.line} {b.language}" for b in ALL if b.language not in
               {"sh", "python", "yaml", "toml", "json", "text", "bibtex"}]  # fmt: skip
    assert unknown == []


@pytest.mark.parametrize("block", [b for b in ALL if b.language == "python"], ids=lambda b: f"{b.page}:{b.line}")
def test_python_is_python(block: object) -> None:
    code = block.code  # type: ignore[attr-defined]
    ast.parse("\n".join(e.source for e in DocTestParser().get_examples(code)) if ">>> " in code else code)


@pytest.mark.parametrize(("place", "command"), list(commands()), ids=lambda value: value[:60])
def test_a_command_of_the_pages_is_one_that_the_parser_takes(place: str, command: str) -> None:
    words = shlex.split(command, comments=True)[1:]
    if "…" in command or any(re.fullmatch(r"\[?[|(].*", word) for word in words) or words[0] == "COMMAND":
        words = [word for word in words if not word.startswith("-")][:1]
        assert words[0] in command_names(), f"{place}: no such command"
        return
    try:
        make_parser().parse_args(words)
    except SystemExit as ended:
        pytest.fail(f"{place}: the parser does not take: {command} (exit code {ended.code})")


def command_names() -> set[str]:
    usage = make_parser().format_help()
    return set(re.findall(r"^ {2}([a-z-]+) {2,}\w", usage, re.M))
