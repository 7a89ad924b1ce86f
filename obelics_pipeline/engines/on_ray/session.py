"""Joining a Ray cluster, or starting one on this machine: quietly, and with what its nodes need to work for us."""

from __future__ import annotations

import logging
import math
import os
import secrets
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import obelics_pipeline
from obelics_pipeline.core.config.ray import RayConfig
from obelics_pipeline.core.errors import Stopped, UserError

AUTHENTICATION = ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")  # Ray's own variables
INSIDE_A_JOB = "RAY_JOB_CONFIG_JSON_ENV_VAR"  # Ray sets it for what `ray job submit` runs

# how long Ray waits for the port of a head that it starts, in seconds; its 30 are too few on a busy machine
HEAD_WAIT = "RAY_gcs_server_port_wait_time_s"

# Ray connects by itself, to whatever cluster it finds, when one of its functions is called outside a session: a step
# that ends late would leave this process connected. Ray reads this where it is imported.
AUTO_CONNECT = "RAY_ENABLE_AUTO_CONNECT"

IDLE_SECONDS = 60  # Ray ends workers beyond its CPUs after 1 s, its own actors counted: each step would begin anew


def address_of(given: str | None) -> str:
    """Where to connect to: what was given, else RAY_ADDRESS (as `ray job submit` sets it), else a Ray of our own.

    Raises UserError for a client address.
    """
    address = given or os.environ.get("RAY_ADDRESS") or "local"
    if address.startswith("ray://"):
        raise UserError(
            f"--ray-address {address}: Ray Client is not supported; give HOST:6379 or auto on a machine of the "
            "cluster, or use ray job submit (docs/ray.md)"
        )
    return address


@contextmanager
def session(address: str, workers: int | None, config: RayConfig) -> Iterator[None]:
    """Be connected to Ray. A Ray that was started for this ends with it.

    Raises UserError, and Stopped where Ray did not start in time, in one line.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault(AUTO_CONNECT, "0")
    if address == "local":
        _own_token()
        os.environ.setdefault(HEAD_WAIT, str(math.ceil(config.start_seconds)))
    import ray
    import ray.data

    settings: dict[str, Any] = {"logging_level": "ERROR", "log_to_driver": False}
    if address == "local":
        settings |= _own_cluster(workers or os.cpu_count() or 1, config)
    elif (modules := _checkout()) is not None:
        settings["runtime_env"] = {"py_modules": modules}
    with _handlers_kept():
        try:
            ray.init(address=address, **settings)
        except (ConnectionError, RuntimeError, ValueError) as error:
            if address == "local" and isinstance(error, RuntimeError):  # its head was late
                raise _late(address, error) from None
            raise UserError(f"--engine ray: cannot join {address}: {_first_line(error)}") from None
        except Exception as error:
            if type(error) is not Exception:  # a plain one is how Ray says that a node of its own did not start in time
                raise
            raise _late(address, error) from None
    try:
        _quiet_data()
        yield
    finally:
        ray.shutdown()


def _late(address: str, error: Exception) -> Stopped:
    return Stopped(
        f"--engine ray: {address} did not start: {_first_line(error)}; when this machine is less busy, run the same "
        "command again"
    )


def raylet_died() -> Stopped:
    """What ends a run whose own node of Ray died: every task that it starts is lost, whatever it is."""
    return Stopped(
        "--engine ray: the raylet of this machine has died (see raylet.out in Ray's logs, and the kernel's log for "
        "want of memory); run the same command again to continue"
    )


def _own_token() -> None:
    """A token for a Ray that nobody else talks to. Ray would write one into the home folder and rely on that.

    Set once per process, and before Ray is imported: that is when Ray reads it. Where somebody else has imported it
    (img2dataset does), Ray is left to its own token.
    """
    if "ray" not in sys.modules and not any(name in os.environ for name in AUTHENTICATION):
        os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secrets.token_hex(32))


def _own_cluster(workers: int, config: RayConfig) -> dict[str, Any]:
    """Settings of a Ray on this machine, for this process alone."""
    return {
        "num_cpus": math.ceil(workers * config.cpus_per_unit),
        "object_store_memory": config.object_store_bytes,
        "include_dashboard": False,
        # Ray's workers have niceness 15 otherwise; that of ours is set where they begin (engines/worker.py)
        "_system_config": {"idle_worker_killing_time_threshold_ms": IDLE_SECONDS * 1000, "worker_niceness": 0},
    }


def _checkout() -> list[str] | None:
    """The package to send along where it runs from a checkout; None where it is installed, or sent already.

    It alone: what its links lead to goes with it, and a node may have `filters` or `models` of its own.
    """
    package = Path(obelics_pipeline.__file__).parent
    if package.parent.name in ("site-packages", "dist-packages") or INSIDE_A_JOB in os.environ:
        return None
    return [str(package)]


def _quiet_data() -> None:
    from ray.data import DataContext

    context = DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    for name in ("ray", "ray.data"):
        logging.getLogger(name).setLevel(logging.ERROR)
    # max_retries has no other way into Ray Data, and without it a task that dies is tried for ever
    warnings.filterwarnings("ignore", message=".*ray_remote_args.*")


@contextmanager
def _handlers_kept() -> Iterator[None]:
    """Ray takes SIGTERM for itself; here it is the run that decides what to do then."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
