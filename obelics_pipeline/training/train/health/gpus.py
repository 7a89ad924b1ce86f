"""Which GPUs these are, and which of them are not to be used: names stay with a GPU that moves to another machine."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from obelics_pipeline.core.errors import UserError

QUERY = "uuid,serial,pci.bus_id,ecc.errors.uncorrected.volatile.total,remapped_rows.pending,remapped_rows.failure"
"""For nvidia-smi --query-gpu. Fields that a driver does not know make it fail: then a shorter query is asked."""
SHORT_QUERY = "uuid,serial,pci.bus_id"


@dataclass(frozen=True)
class Gpu:
    """One GPU of this machine."""

    uuid: str
    serial: str = ""
    pci: str = ""
    uncorrected: int | None = None
    """ECC errors that were not corrected since the driver was loaded; None where it does not say."""
    remap_pending: bool = False
    remap_failed: bool = False

    @property
    def trouble(self) -> str:
        """What speaks against it; empty where nothing does."""
        found = [f"{self.uncorrected} uncorrected ECC errors"] if self.uncorrected else []
        found += ["a row to be remapped at the next reset"] if self.remap_pending else []
        found += ["a row that could not be remapped"] if self.remap_failed else []
        return ", ".join(found)


def gpus(timeout_seconds: float = 20.0) -> tuple[Gpu, ...]:
    """The GPUs of this machine by nvidia-smi; empty if there is no such program, or if it gives no answer."""
    for query in (QUERY, SHORT_QUERY):
        command = ["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader,nounits"]
        try:
            said = subprocess.run(command, capture_output=True, text=True, timeout=timeout_seconds, check=True).stdout
        except (OSError, subprocess.SubprocessError):
            continue
        return parse(said)
    return ()


def parse(said: str) -> tuple[Gpu, ...]:
    """From what nvidia-smi says to `QUERY`, or to `SHORT_QUERY`."""
    found = []
    for line in filter(None, map(str.strip, said.splitlines())):
        uuid, serial, pci, *more = [part.strip() for part in line.split(",")]
        errors, pending, failed = [*more, "", "", ""][:3]
        number = int(errors) if re.fullmatch(r"\d+", errors) else None
        yes = ("yes", "1")
        found.append(Gpu(uuid, serial, pci, number, pending.lower() in yes, failed.lower() in yes))
    return tuple(found)


def refuse_denied(present: Iterable[Gpu], hosts: Sequence[str], denied: Iterable[str]) -> None:
    """Raises UserError where a GPU (by UUID or serial) or one of these host names is on the list."""
    refused = {d.strip() for d in denied if d.strip()}
    for name in hosts:
        if name in refused:
            raise UserError(f"host {name} is on the deny list; start on another one, or take it off train.health.deny")
    for gpu in present:
        if {gpu.uuid, gpu.serial} & refused:
            raise UserError(
                f"GPU {gpu.uuid} (serial {gpu.serial or 'unknown'}) is on the deny list; "
                "hide it with CUDA_VISIBLE_DEVICES, or take it off train.health.deny"
            )
