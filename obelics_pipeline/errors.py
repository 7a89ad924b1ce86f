"""The two ways a run can stop that are not a bug, each with its exit code and one line for the person."""


class UserError(Exception):
    """The command line, the config or the environment is wrong: exit code 2.

    The message is one line: what is wrong, where, which values are valid, what to do.
    """

    exit_code = 2


class Stopped(Exception):
    """The run stopped without harm (disk full, credentials lost, Ctrl-C): exit code 3; the same command goes on."""

    exit_code = 3
