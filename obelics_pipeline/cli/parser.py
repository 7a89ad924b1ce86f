"""What the commands share: a parser that answers in one line, and arguments that many of them take."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.near import did_you_mean
from obelics_pipeline.core.redacted import redacted

if TYPE_CHECKING:
    from obelics_pipeline.jobs.main_job import OpenEngine


def say(line: str) -> None:
    """Print a line at once, without the passwords and signatures of URLs in it."""
    print(redacted(line), flush=True)


class EveryValue(argparse.Action):
    """The values of an option, however often it is given; argparse keeps those of the last time and says nothing."""

    def __call__(self, _parser: object, namespace: argparse.Namespace, values: Any, _option: object = None) -> None:
        """Take further values; the first take the place of the default."""
        before = getattr(namespace, self.dest)
        setattr(namespace, self.dest, [*values] if before is self.default else [*before, *values])


class Parser(argparse.ArgumentParser):
    """An argparse parser that says what is wrong in one line, names the nearest valid name, and exits with code 2."""

    def add_argument(self, *names: str, **options: Any) -> argparse.Action:
        """As argparse does; an option of many values may be given more than once."""
        if options.get("nargs") == "+":
            options.setdefault("action", EveryValue)
        return super().add_argument(*names, **options)

    def error(self, message: str) -> NoReturn:
        """End the program."""
        self.exit(2, redacted(f"obelics: {message}; see: {self.prog} --help\n"))

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Refuse unknown options and arguments here, where the options of this command are known."""
        self._refuse_unknown_options(sys.argv[1:] if args is None else args)
        found, others = super().parse_known_args(args, namespace)
        if others:
            self.error(f"unexpected argument {others[0]}")
        return found, others

    def _has_commands(self) -> bool:
        return any(isinstance(action, argparse._SubParsersAction) for action in self._actions)

    def _refuse_unknown_options(self, args: Sequence[str]) -> None:
        """Before argparse looks: it would first ask for the required option that was misspelled."""
        valid = [name for name in self._option_string_actions if name.startswith("--")]
        for argument in args:
            of_a_command = self._has_commands() and not argument.startswith("-")
            if argument == "--" or of_a_command:
                return
            name = argument.partition("=")[0]
            is_option = name.startswith("--") and " " not in name
            if is_option and not any(option.startswith(name) for option in valid):  # argparse takes abbreviations
                self.error(f"unknown option {name}{did_you_mean(name, valid)}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        names = [str(choice) for choice in action.choices]
        near = did_you_mean(str(value), names)
        if isinstance(action, argparse._SubParsersAction):
            self.error(f"unknown {str(action.metavar).lower()} {value}{near or _valid(names)}")
        raise argparse.ArgumentError(action, f"{value} is not valid{near}{_valid(names)}")


def _valid(names: Iterable[str]) -> str:
    return f"; valid: {', '.join(names)}"


class GroupedHelp(argparse.HelpFormatter):
    """The help of `obelics`: each command in one line, under the heading of its group.

    `headings` leads from the first command of each group to the group's heading.
    """

    def __init__(self, prog: str, headings: Mapping[str, str]) -> None:
        super().__init__(prog, max_help_position=17)
        self.headings = headings

    def _format_action(self, action: argparse.Action) -> str:
        if isinstance(action, argparse._SubParsersAction):
            return "".join(self._command(command) for command in action._get_subactions())
        return super()._format_action(action)

    def _command(self, command: argparse.Action) -> str:
        heading = self.headings.get(command.dest)
        return (f"\n{heading}\n" if heading else "") + self._format_action(command)


Commands: TypeAlias = "argparse._SubParsersAction[Parser]"


def add_overrides(command: argparse.ArgumentParser, of: str) -> None:
    """The argument --set."""
    command.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help=f"change one value of {of}; may be repeated"
    )


def positive(text: str) -> int:
    """A whole number of at least 1."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of 1 or more, got {text}")
    return number


def workers_of(arguments: argparse.Namespace) -> int:
    """How many were asked for; one per CPU core where nothing was said."""
    return arguments.workers or os.cpu_count() or 1


def ray_of(arguments: argparse.Namespace) -> OpenEngine | None:
    """What opens the engine of --engine ray; None for another. Raises UserError for another with --ray-address."""
    if arguments.engine == "ray":
        from obelics_pipeline.jobs.main_job import open_ray

        return partial(open_ray, arguments.ray_address, arguments.workers)
    if arguments.ray_address:
        raise UserError(
            f"--ray-address: valid only with --engine ray, and the engine is {arguments.engine}; change one of them"
        )
    return None
