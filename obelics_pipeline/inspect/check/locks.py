"""Whether the file system of an output keeps a second run out, as far as one machine can tell."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from obelics_pipeline.inspect.check.finding import Finding

MOUNTS = Path("/proc/mounts")
SHARED = frozenset(("nfs", "nfs4", "lustre", "cifs", "smb3", "fuse"))  # types that machines share; and fuse.ANYTHING
REMEDY = "give an --output on a local disk or in a bucket"
UNKNOWN = "of a type that is not known"  # no Linux, or not in its list of mounts
LOCK = """
import fcntl, sys
try:
    fcntl.flock(open(sys.argv[1]), fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    sys.exit(3)
"""  # what another process does


def lock_findings(file: Path) -> Iterator[Finding]:
    """A finding where two runs could work in the folder of this file at once; it is locked for a moment."""
    with suppress(OSError):
        mounts = MOUNTS.read_text("utf-8", "surrogateescape")
        kind = file_system(file.resolve(), mounts)
        told = f"{file.parent}: its file system is {kind}"
        if (why := _unlocked(file)) is not None:
            yield Finding("locks", "missing", f"{told}, and {why}: two runs could work there at once; {REMEDY}")
        elif kind in SHARED or kind.startswith("fuse."):
            yield Finding(
                "locks",
                "warning",
                f"{told}, and a lock keeps out processes of this machine only, for all that is known here: start runs "
                f"there on one machine, or {REMEDY}",
            )


def file_system(path: Path, mounts: str) -> str:
    """The type of the file system that a path is on, by the text of /proc/mounts."""
    found, kind = Path(), UNKNOWN
    for line in mounts.splitlines():
        _, point, of_point, *_ = (*line.split(" "), "", "", "")
        mounted = Path(_unescaped(point))
        if path.is_relative_to(mounted) and len(mounted.parts) >= len(found.parts):  # of two at one place the later
            found, kind = mounted, of_point
    return kind


def _unescaped(text: str) -> str:
    """A mount point: blanks, tabs, line feeds and backslashes are written as octal numbers (man 5 proc_pid_mounts)."""
    for character in " \t\n\\":
        text = text.replace(f"\\{ord(character):03o}", character)
    return text


def _unlocked(file: Path) -> str | None:
    """Why a lock keeps nobody out; None if it keeps another process out."""
    with file.open("a") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            return f"it has no locks ({os.strerror(error.errno or errno.ENOLCK)})"
        other = subprocess.run([sys.executable, "-I", "-S", "-c", LOCK, str(file)], capture_output=True, check=False)
    return "a lock that one process holds was given to another as well" if other.returncode == 0 else None
