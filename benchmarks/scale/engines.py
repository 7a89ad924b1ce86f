"""What a unit costs the driver that hands it out: by the pool of one machine, and by Ray."""

from __future__ import annotations

import shutil
import tempfile
from collections import deque
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.scale.fit import Size
from benchmarks.scale.process import Spent, memory_folder, spent_by
from obelics_pipeline.core.config import load_config
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.engines.local import LocalEngine

PAYLOAD = {f"name_{i}": "CC-MAIN-20260101000000-20260101000000-00000-0123456789abcdef" for i in range(8)}


def local_engine(size: Size) -> dict[str, Spent]:
    """To send units to a process, and to take what comes back."""
    return {"local engine: unit": _handed("local", int(size.units))}


def ray_engine(size: Size) -> dict[str, Spent]:
    """To submit units to Ray on this machine, and to wait for them."""
    return {"Ray: unit": _handed("ray", int(size.units))}


def _handed(name: str, units: int) -> Spent:
    place = Path(tempfile.mkdtemp(prefix="obelics-scale-", dir=memory_folder()))
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, place, ignore_errors=True)
        if name == "ray":
            from obelics_pipeline.engines.on_ray.engine import RayEngine

            engine: Any = stack.enter_context(RayEngine("local", 1, place, 3600.0, load_config("default").ray))
        else:
            engine = stack.enter_context(LocalEngine(1, place, 3600.0))
        list(engine.map(_answer, [0] * 4))  # starts what must be started
        waiting = deque(Unit("uses", f"{i:016x}", "unit", PAYLOAD) for i in range(units))
        return spent_by(lambda: deque(engine._each(_answer, waiting), maxlen=0))


def _answer(_unit: Any) -> dict[str, str]:
    """As much as a manifest."""
    return PAYLOAD
