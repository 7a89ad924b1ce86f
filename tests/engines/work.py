"""Units for the engine's tests: what a worker does is said by the payload."""

import errno
import os
import signal
import time
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import obelics_pipeline
from obelics_pipeline.core.commit import Attempt, Manifest, read_manifest
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.engines.gpus import VISIBLE
from obelics_pipeline.engines.pool import RECYCLE_BYTES


def unit(name: str, do: str = "commit", **payload: object) -> Unit:
    return Unit("test", name, "u", {"do": do, **payload})


def work(unit: Unit, *, folder: Path) -> Manifest:
    """Commit one byte, after the trouble that the payload asks for."""
    done = read_manifest(folder, unit.name)
    if done is not None:
        return done
    do, tries = unit.payload["do"], folder / f"tries-{unit.id}"
    with tries.open("a") as stream:
        stream.write("x")
    n = tries.stat().st_size
    with (folder / f"crashes-{unit.id}").open("a") as stream:
        stream.write(f"{unit.crashes}\n")
    if do == "die_always" or (do == "die_once" and n == 1):
        os.kill(os.getpid(), signal.SIGKILL)
    if do == "kill_ray_worker" or (do == "kill_ray_worker_once" and n == 1):
        os.kill(parent_of(os.getppid()), signal.SIGKILL)  # its fork server's parent
        time.sleep(600)
    if do == "raise_always" or (do == "raise_once" and n == 1):
        raise RuntimeError("trouble")
    if do == "disk_full":
        raise OSError(errno.ENOSPC, "No space left on device", "/somewhere")
    if do == "user_error":
        raise UserError("a model is missing; get it")
    if do == "hang" and n == 1:
        time.sleep(600)
    with Attempt(folder, unit) as attempt:
        attempt.file("data", ".bin").write_bytes(unit.id.encode())
        return attempt.commit([Ledger("things", 1, 1)])


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def double(n: int) -> int:
    return n + n


def process_of(_: int) -> str:
    """Where this process has the package from."""
    return str(obelics_pipeline.__file__)


def linked_part(name: str) -> str:
    """Where this process has a part of the package from that is a link in a checkout."""
    return str(import_module(f"obelics_pipeline.{name}").__file__)


def make_model() -> str:
    """A model of which all that matters is which process made it."""
    return f"{os.getpid()}-{time.monotonic_ns()}"


def make_large_model() -> tuple[str, bytes]:
    """A model that is larger than a worker may grow to without one."""
    return make_model(), b"x" * (RECYCLE_BYTES + 2**20)


def score_by_large(unit: Unit, model: tuple[str, bytes], *, folder: Path) -> Manifest:
    """As `score`."""
    return score(unit, f"{model[0]} {os.environ.get(VISIBLE)}", folder=folder)


def score(unit: Unit, model: str, *, folder: Path) -> Manifest:
    """As `work`, noting the model that was used."""
    manifest = work(unit, folder=folder)
    return replace(manifest, notes={"model": model})


def pids_of_sleepers(unit: Unit, *, folder: Path) -> Manifest:
    """Write this worker's process id, then sleep for ever."""
    (folder / f"pid-{unit.id}").write_text(str(os.getpid()))
    time.sleep(600)
    raise AssertionError
