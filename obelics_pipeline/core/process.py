"""Which process works for a run, told so that another one on its machine sees whether it is still there."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any


def this_process() -> dict[str, Any]:
    """Names this process: `process` is its number, `begun` tells it from another one that gets the number later."""
    here = os.getpid()
    return {"host": socket.gethostname(), "processes": _processes(), "process": here, "begun": _begun(here)}


def is_here(told: Mapping[str, Any]) -> bool:
    """Whether a process that named itself so is, or was, one whose number means the same to this process."""
    return told.get("processes") == _processes() and isinstance(told.get("process"), int)


def is_gone(told: Mapping[str, Any]) -> bool:
    """Whether it is known to have ended: it was one of this machine's, and is no more."""
    if not is_here(told):
        return False
    begun = _begun(told["process"])
    return begun is None or begun != told.get("begun", begun)


@cache
def _processes() -> str:
    """Names the processes whose numbers are distinct: those of one start of a machine, in one container."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:  # no Linux: nobody is known to have ended
        return secrets.token_hex(8)


def _begun(process: int) -> int | None:
    """When a process began, in ticks of the machine's clock since its start; None for one that has ended."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()  # from the third field on (man 5 proc_pid_stat)
    return None if fields[0] in "ZX" else int(fields[19])
