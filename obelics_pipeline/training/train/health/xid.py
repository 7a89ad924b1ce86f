"""Messages of the NVIDIA driver in the kernel's log, and what their numbers mean.

Meanings: NVIDIA, "Xid Errors" (docs.nvidia.com/deploy/xid-errors), and its "GPU memory error management" for rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from obelics_pipeline.training.train.guard.observation import Hardware


@dataclass(frozen=True)
class Meaning:
    """Of one number."""

    what: str
    corrupts: bool
    """Whether numbers may have been wrong: an error that was not contained, or memory that was lost."""


XIDS = {
    13: Meaning("graphics engine exception: mostly the program's own fault", False),
    31: Meaning("memory page fault: mostly the program's own fault", False),
    32: Meaning("corrupted push buffer", False),
    43: Meaning("the GPU stopped processing: the program's own fault", False),
    45: Meaning("the program was ended, or an earlier error ended it", False),
    48: Meaning("double-bit ECC error: memory was lost", True),
    61: Meaning("internal micro-controller breakpoint", False),
    62: Meaning("internal micro-controller halt", False),
    63: Meaning("a memory row is remapped, or a page retired: recorded, done at the next reset", False),
    64: Meaning("remapping a memory row, or retiring a page, has failed", True),
    74: Meaning("NVLink error", True),
    79: Meaning("the GPU has fallen off the bus", False),
    92: Meaning("many single-bit ECC errors, corrected", False),
    94: Meaning("contained ECC error: only its program was hit", True),
    95: Meaning("uncontained ECC error: any program may have been hit", True),
    119: Meaning("GSP firmware does not answer", False),
    120: Meaning("GSP firmware error", False),
    140: Meaning("unrecovered ECC error", True),
}
"""Those that a training meets; others are kept with what the line says."""

UNKNOWN = Meaning("not in the table", False)

_XID = re.compile(
    r"NVRM: Xid \(PCI:(?P<pci>[0-9A-Fa-f:.]+)\): (?P<code>\d+)"
    r"(?:, pid=(?:'?(?P<pid>\d+)'?|'?<unknown>'?))?(?:, name=(?P<name>[^,]*))?(?:, (?P<rest>.*))?"
)
_HOST = re.compile(
    r"^(?:<\d+>)?(?:\w{3}\s+\d+ [\d:]+|\d{4}-\d\d-\d\dT\S+) (?P<host>[\w.-]+) |^(?P<colon>[\w.-]*[A-Za-z][\w.-]*): "
)


@dataclass(frozen=True)
class Xid:
    """One message."""

    code: int
    pci: str
    """Address of the GPU, as written (domain:bus:device)."""
    pid: int | None
    host: str | None
    text: str
    """What the line says behind the number."""

    @property
    def meaning(self) -> Meaning:
        """Of its number."""
        return XIDS.get(self.code, UNKNOWN)

    def event(self, host: str = "") -> Hardware:
        """The event that the guard gets."""
        return Hardware(f"xid {self.code}", f"{self.host or host}/{self.pci}".lstrip("/"), self.meaning.corrupts)


def xid_of(line: str) -> Xid | None:
    """The message in a line of the kernel's log (dmesg, journal, syslog, or "host: " before it); None in others."""
    found = _XID.search(line)
    if not found:
        return None
    host = _HOST.match(line[: found.start()])
    name = (host["host"] or host["colon"]) if host else None
    pid = int(found["pid"]) if found["pid"] else None
    return Xid(int(found["code"]), found["pci"], pid, None if name == "kernel" else name, (found["rest"] or "").strip())


def xids(lines: Iterable[str]) -> Iterator[Xid]:
    """All messages, in order."""
    return (found for line in lines if (found := xid_of(line)) is not None)
