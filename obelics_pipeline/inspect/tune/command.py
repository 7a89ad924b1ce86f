"""`obelics tune`: reads a run's folder and serves the page until it is stopped."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import stat
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, TextIO

from rich.console import Console

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.inspect.tune.redirect import redirecting

if TYPE_CHECKING:
    import uvicorn

HOST = "127.0.0.1"
MOST_PORT = 65_535  # a port has 16 bits


def tune(folder: str, port: int = 0, workers: int = 1, browser: bool = True) -> int:
    """Serve the page on this machine alone; returns 0 when it is stopped.

    `port` 0 takes a free one. Raises UserError for a missing extra, a folder without a run, and a port that is invalid
    or taken.
    """
    if find_spec("starlette") is None or find_spec("uvicorn") is None:
        raise UserError("obelics tune needs the extra tune: pip install 'obelics-pipeline[tune]'")
    if not Path(folder).is_dir():
        raise UserError(f"{folder}: no such folder on this machine; copy the run here, or run a sample here")
    if not RunFolder(Path(folder)).config.exists():
        raise UserError(f"{folder}: not the folder of a run (it has no config.yaml); give the --output of obelics run")
    import uvicorn

    from obelics_pipeline.inspect.tune.server import application
    from obelics_pipeline.inspect.tune.workbench import Workbench

    console = Console(highlight=False, soft_wrap=True)
    console.print(f"reading {folder} …", markup=False)
    bench = Workbench(Path(folder), workers)
    listening = _listening(port)
    token = secrets.token_urlsafe(16)  # 128 bits: other users of the machine reach the port too
    url = f"http://{HOST}:{listening.getsockname()[1]}/{token}/"
    server = uvicorn.Server(uvicorn.Config(application(bench, token), log_level="warning", access_log=False))
    with listening, _ended_by_signals(server), redirecting(url) as page:
        address = f"in {page}, which you alone can read" if _read_by_others(sys.stdout) else url
        console.print(f"{len(bench.run.documents):,} documents; the page is {address}  (Ctrl-C stops it)", markup=False)
        if browser and (os.environ.get("DISPLAY") or sys.platform == "darwin"):
            webbrowser.open(page.as_uri())
        server.run(sockets=[listening])
    return 0


@contextmanager
def _ended_by_signals(server: uvicorn.Server) -> Iterator[None]:
    """Ctrl-C, a terminal that is closed and SIGTERM are how it is ended, with everything put away."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        server.should_exit = True  # an exception is lost where it meets a callback, while modules are loaded

    def hang_up(_number: int, _frame: FrameType | None) -> None:
        signal.raise_signal(signal.SIGTERM)  # which uvicorn ends by, while it serves

    handlers = {signal.SIGTERM: stop, signal.SIGHUP: hang_up}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        with suppress(KeyboardInterrupt):
            yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _read_by_others(stream: TextIO) -> bool:
    """Whether what is printed there lands in a file that other users can read, such as the log of a batch system."""
    try:
        mode = os.fstat(stream.fileno()).st_mode
    except (OSError, ValueError):  # no file at all
        return False
    return stat.S_ISREG(mode) and bool(mode & (stat.S_IRGRP | stat.S_IROTH))


def _listening(port: int) -> socket.socket:
    if not 0 <= port <= MOST_PORT:
        raise UserError(f"--port {port}: must be 1 to {MOST_PORT}, or 0 for a free one")
    found = socket.socket()
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((HOST, port))
        found.listen()  # now: a browser that is told the address may be there before the server is
    except OSError as error:
        found.close()
        raise UserError(f"--port {port}: {error.strerror}; give another, or none for a free one") from None
    return found
