"""`obelics --print-completion SHELL`: a script by which a shell completes commands, options and paths."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

SHELLS = ("bash", "zsh", "fish")
FILES = frozenset(
    "CONFIG CORPUS CORPUS… DIR|FILE DOCUMENTS EXPERIMENT FILE FILE.dat FILE.index FILE.jsonl INPUT MODEL.ftz "
    "MODEL.json MODEL.npz PLAN RECIPE RUN|CHECKPOINT RUN|MODEL".split()
)
"""Metavars of arguments that are files, or files and folders."""
FOLDERS = frozenset({"DIR", "FOLDER", "OTHER", "RUN"})
"""Metavars of arguments that are folders."""


class PrintCompletion(argparse.Action):
    """Prints the script and ends the program."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: Any, shell: Any, option: str | None = None) -> None:
        """As argparse calls it: `shell` is one of SHELLS."""
        import shtab

        for argument in _arguments(parser):
            if argument.metavar in FILES:
                argument.complete = shtab.FILE  # type: ignore[attr-defined]
            elif argument.metavar in FOLDERS:
                argument.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
        print(shtab.complete(parser, shell))
        parser.exit()


def _arguments(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Every argument of a parser and of its commands."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _arguments(command)
        else:
            yield action
