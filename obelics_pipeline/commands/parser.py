"""What the commands share: a parser that answers in one line, and arguments that many of them take."""

from __future__ import annotations

import argparse
import os
from functools import partial
from typing import NoReturn, TypeAlias

say = partial(print, flush=True)


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, with exit code 2."""

    def error(self, message: str) -> NoReturn:
        """End the program."""
        self.exit(2, f"obelics: {message}; see: {self.prog} --help\n")


Commands: TypeAlias = "argparse._SubParsersAction[Parser]"


def add_overrides(command: argparse.ArgumentParser, of: str) -> None:
    """The argument --set."""
    command.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help=f"override a value of {of}")


def positive(text: str) -> int:
    """A whole number of at least 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be 1 or more, got {text}")
    return number


def workers_of(arguments: argparse.Namespace) -> int:
    """How many were asked for; one per CPU core where nothing was said."""
    return arguments.workers or os.cpu_count() or 1
