"""What it costs to ask which units are committed: on a disk, and in an object store on loopback."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from functools import cache, partial
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection
from pathlib import Path

from benchmarks.scale.fit import Size
from benchmarks.scale.made_run import MadeRun
from benchmarks.scale.process import Spent, memory_folder, spent_by
from obelics_pipeline.core.commit import FEW, read_manifests
from obelics_pipeline.core.storage import Location, location
from obelics_pipeline.core.unit import Unit


def listings(size: Size) -> dict[str, Spent]:
    """To read the manifests of so many committed units; in a store, where it is listed once and read many at a time.

    The store is a process of its own, and what it takes is not in the figures.
    """
    place = Path(tempfile.mkdtemp(prefix="obelics-scale-", dir=memory_folder()))
    try:
        found = {"listing: on a disk": _listed(place, int(size.units))}
    finally:
        shutil.rmtree(place)
    there = bucket()
    _listed(there / f"first-{size.units}", FEW + 1)  # makes the client
    return found | {"listing: in a store": _listed(there / f"many-{size.units}", int(size.units))}


def _listed(folder: Location, units: int) -> Spent:
    run = MadeRun(units, units)
    label = "CC-MAIN-20260101000000-20260101000000"
    about = {"extracted": f"{label}-00000-0123456789abcdef", "generation": 0, "partition": label}
    made = [Unit("candidates", f"{i:016x}", f"{label}-{i:05}", about) for i in range(units)]
    for unit in made:
        run.commit(unit, folder)
    names = [unit.name for unit in made]
    spent = spent_by(partial(read_manifests, folder, names))
    assert len(read_manifests(folder, names)) == units
    return spent


@cache
def bucket() -> Location:
    """A bucket of S3 in the memory of a process of its own, which ends with this one: a client is made only once."""
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    context.Process(target=_serve, args=(theirs,), daemon=True).start()
    os.environ |= {
        "AWS_ENDPOINT_URL": ours.recv(),
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    there = location("s3://scale")
    there.fs.mkdir("scale")  # type: ignore[union-attr]
    return there


def _serve(pipe: Connection) -> None:
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    pipe.send(f"http://{host}:{port}")
    asker = parent_process()
    assert asker is not None
    asker.join()
