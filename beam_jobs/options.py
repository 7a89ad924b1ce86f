"""Beam's own pipeline options as they stand on a command line: which runner they name, and which are added."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

# `DirectRunner` may be Prism, a program that Beam downloads when it is asked for; on a network that swallows packets it
# waits for ever. FnApiRunner is the runner that it falls back to, and takes all direct_* options.
LOCAL_RUNNER = "FnApiRunner"
RUNNERS_HERE = ("fnapirunner", "directrunner", "bundlebaseddirectrunner", "switchingdirectrunner")  # Beam ignores case


def local_options(workers: int) -> list[str]:
    """Options for `workers` processes of this machine; one runs in memory."""
    mode = "in_memory" if workers == 1 else "multi_processing"
    return [f"--runner={LOCAL_RUNNER}", f"--direct_running_mode={mode}", f"--direct_num_workers={workers}"]


def with_runner(options: Sequence[str]) -> list[str]:
    """Options as given; where they name no runner, the local one."""
    return list(options) if _named(options) else [f"--runner={LOCAL_RUNNER}", *options]


def runner_of(options: Sequence[str]) -> str:
    """The name of the runner, without the module it may be given with."""
    return (_named(options) or LOCAL_RUNNER).rpartition(".")[2]


def runs_here(options: Sequence[str]) -> bool:
    """Whether the pipeline runs in processes of this machine that Beam starts and nobody watches over."""
    return runner_of(options).lower() in RUNNERS_HERE


def _named(options: Sequence[str]) -> str | None:
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--runner")
    named: str | None = parser.parse_known_args(list(options))[0].runner
    return named
