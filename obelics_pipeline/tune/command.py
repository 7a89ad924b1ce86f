"""`obelics tune`: reads a run's folder and serves the page until it is stopped."""

from __future__ import annotations

import os
import secrets
import socket
import sys
import webbrowser
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from rich.console import Console

from obelics_pipeline.errors import UserError

HOST = "127.0.0.1"


def tune(folder: str, port: int = 0, workers: int = 1, browser: bool = True) -> int:
    """Serve the page on this machine alone; returns 0 when it is stopped.

    `port` 0 takes a free one. Raises UserError for a missing extra, what is no run, and a port that is taken.
    """
    if find_spec("starlette") is None or find_spec("uvicorn") is None:
        raise UserError("obelics tune needs the extra: pip install 'obelics-pipeline[tune]'")
    if not Path(folder).is_dir():
        raise UserError(f"{folder}: no such folder on this machine; copy the run here, or run a sample here")
    import uvicorn

    from obelics_pipeline.tune.server import application
    from obelics_pipeline.tune.workbench import Workbench

    console = Console(highlight=False, soft_wrap=True)
    console.print(f"reading {folder} …", markup=False)
    bench = Workbench(Path(folder), workers)
    token = secrets.token_urlsafe(16)
    listening = _listening(port)
    url = f"http://{HOST}:{listening.getsockname()[1]}/{token}/"
    console.print(f"{len(bench.run.documents):,} documents; the page is {url}  (Ctrl-C stops it)", markup=False)
    if browser and (os.environ.get("DISPLAY") or sys.platform == "darwin"):
        webbrowser.open(url)
    config = uvicorn.Config(application(bench, token), log_level="warning", access_log=False)
    with suppress(KeyboardInterrupt):  # how it is ended
        uvicorn.Server(config).run(sockets=[listening])
    return 0


def _listening(port: int) -> socket.socket:
    found = socket.socket()
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((HOST, port))
        found.listen()  # now: a browser that is told the address may be there before the server is
    except OSError as error:
        found.close()
        raise UserError(f"--port {port}: {error.strerror}; give another, or none for a free one") from None
    return found
